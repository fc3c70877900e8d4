import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventIdOf, traceUuidOf } from '../../services/ingest/otlp/mapping/ids.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { notes, traces } from '../../store/db/schema.ts';
import { deleteTracesWithoutCalls } from '../../store/retention/expired-nodes.ts';
import { TraceResolver } from '../../store/traces/trace-resolver.ts';
import { evaluationsOf } from '../support/otlp/evaluated-spans.ts';
import { messagesOf, toRequest } from '../support/otlp/trace-messages.ts';
import { createDatabase } from '../support/test-servers.ts';

/** The results of evaluations are on what their spans have become, whether they or the spans come first. */

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 60_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
});
afterAll(() => resources.disposeAsync());

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanIds = { agent: 'a'.repeat(16), outer: 'b'.repeat(16), inner: 'c'.repeat(16), lost: 'd'.repeat(16) };
const { agent, outer, inner, lost } = spanIds;

const run = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'planner' };
const chat = { 'gen_ai.operation.name': 'chat' };
const messages = [
  { span: { traceId, spanId: agent, attributes: run }, library: 'framework' },
  { span: { traceId, spanId: outer, parentSpanId: agent, attributes: chat }, library: 'framework' },
  { span: { traceId, spanId: inner, parentSpanId: outer, attributes: chat }, library: 'client' },
].flatMap((span) => messagesOf(toRequest([span])));

const evaluate = (...ids: string[]) =>
  messagesOf(evaluationsOf(ids.map((spanId) => ({ span: { traceId, spanId } }))), 'otlpLogs');

const ofEvent = (spanId: string) => ({ target: 'event', targetId: eventIdOf(traceId, spanId) });

async function readTargets(spaceId: string) {
  const rows = await database.select().from(notes).where(eq(notes.spaceId, spaceId));
  return Object.fromEntries(rows.map(({ label, target, targetId }) => [label, { target, targetId }]));
}

const orders = [messages, messages.toReversed()].flatMap((others, at) =>
  Array.from(Array(messages.length + 1).keys(), (place) => ({ others, isReversed: at === 1, place })),
);

test.each(orders)(
  'after $place messages with events and spans (reversed: $isReversed)',
  async ({ others, place }) => {
    for (const isResolvedBetween of [false, true]) {
      const { id: spaceId } = await createSpace(database, 'test');
      // The last span never comes.
      const all = others.toSpliced(place, 0, ...evaluate(...Object.values(spanIds)));
      for (const message of all) {
        await message(database, spaceId);
        if (isResolvedBetween) await new TraceResolver(database).run();
      }
      await new TraceResolver(database).run();
      expect(await readTargets(spaceId)).toEqual({
        [agent]: { target: 'trace', targetId: traceUuidOf(traceId) },
        ...{ [outer]: ofEvent(inner), [inner]: ofEvent(inner), [lost]: ofEvent(lost) },
      });
    }
  },
);

test('a trace of which only evaluations have come is resolved, and gone after a day', async () => {
  const { id: spaceId } = await createSpace(database, 'test');
  for (const message of evaluate(agent)) await message(database, spaceId);
  await new TraceResolver(database).run();
  const read = () => database.select().from(traces).where(eq(traces.spaceId, spaceId));
  expect(await read()).toMatchObject([{ spans: 0, hasCalls: false, unresolvedSince: null }]);
  await deleteTracesWithoutCalls(database, Date.now() + 86_000_000);
  expect(await read()).toHaveLength(1);
  await deleteTracesWithoutCalls(database, Date.now() + 86_500_000);
  expect(await read()).toEqual([]);
  expect(await readTargets(spaceId)).toEqual({ [agent]: ofEvent(agent) });
});
