import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toProtobuf } from '../../harness/fixtures/spans.ts';
import { createRandom, type Random } from '../../harness/random.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { events } from '../../store/db/schema.ts';
import { parentProperty, withParents } from '../../store/traces/parent-events.ts';
import { TraceResolver } from '../../store/traces/trace-resolver.ts';
import { evaluationsOf, findMisplaced } from '../support/otlp/evaluated-spans.ts';
import { cut, logOf, shuffle } from '../support/otlp/random-requests.ts';
import { readStored } from '../support/otlp/stored-space.ts';
import { findMismatches } from '../support/otlp/stored-traces.ts';
import { type Message, messagesOf, toRequest } from '../support/otlp/trace-messages.ts';
import { observeTrace, traceKinds } from '../support/otlp/trace-observation.ts';
import { createDatabase } from '../support/test-servers.ts';

/**
 * What a trace looks like is a function of what is stored: in whichever requests and messages it came, and in
 * whichever order.
 */

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 6, statementTimeoutMs: 60_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
});
afterAll(() => resources.disposeAsync());

/**
 * Delivers messages by several writers in random order, a third of them twice, while a resolver runs and is
 * ended at times.
 */
async function deliverAll(random: Random, spaceId: string, messages: readonly Message[]): Promise<void> {
  const waiting = shuffle(random, [...messages, ...messages.filter(() => random.between(0, 2) === 0)]);
  let isDone = false;
  const resolving = async () => {
    while (!isDone) await new TraceResolver(database).run(AbortSignal.timeout(random.between(1, 30)));
  };
  const storing = Array.from({ length: 3 }, async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await next(database, spaceId);
  });
  const resolver = resolving();
  await Promise.all(storing);
  isDone = true;
  await resolver;
  await new TraceResolver(database).run();
}

const newSpace = async () => (await createSpace(database, 'test')).id;

test('an advisor within a call has the agent of a span that came later, and its call above it', async () => {
  const spaceId = await newSpace();
  const [traceId, agentSpan, callSpan] = ['7'.repeat(32), 'a'.repeat(16), 'b'.repeat(16)];
  const advice = { type: 'advisor_message', model: 'claude-opus-4-8', input_tokens: 8, output_tokens: 5 };
  const call = {
    ...{ traceId, spanId: callSpan, parentSpanId: agentSpan },
    attributes: {
      ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'claude-sonnet-5' },
      'gen_ai.usage.raw': JSON.stringify({ input_tokens: 2, output_tokens: 1, iterations: [advice] }),
    },
  };
  const invoked = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'planner' };
  const agent = { traceId, spanId: agentSpan, attributes: invoked };
  for (const span of [call, agent])
    for (const message of messagesOf(toProtobuf({ spans: [span] }))) await message(database, spaceId);
  await new TraceResolver(database).run();
  const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
  expect(rows.map(({ name, agentId }) => [name, agentId]).sort()).toEqual([
    ['claude-opus-4-8', 'planner'],
    ['claude-sonnet-5', 'planner'],
  ]);
  const [above, below] = rows.toSorted((a) => (a.name === 'claude-sonnet-5' ? -1 : 1));
  const found = await withParents(database, spaceId, below === undefined ? [] : [below]);
  expect(found.map(({ attributes }) => attributes?.[parentProperty])).toEqual([above?.id]);
});

test.each([
  ['whose gateway is shorter than the caller', [0n, 90n], [5n, 85n]],
  ['whose gateway ends after the caller', [0n, 90n], [5n, 100n]],
  ['whose caller ends when the stream begins', [0n, 20n], [5n, 85n]],
] as const)(
  'which of three spans in two traces is the event does not depend on the order: %s',
  async (_, ofCaller, ofGateway) => {
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.response.id': 'msg_1' };
    const [caller, gateway, client] = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)];
    const [own, other] = ['8'.repeat(32), '9'.repeat(32)];
    const during = ([fromMs, toMs]: readonly [bigint, bigint]) => ({
      startNs: (1_000n + fromMs) * 1_000_000n,
      endNs: (1_000n + toMs) * 1_000_000n,
    });
    const spans = [
      { traceId: own, spanId: caller, parentSpanId: 'f'.repeat(16), ...during(ofCaller) },
      { traceId: other, spanId: gateway, ...during(ofGateway) },
      { traceId: other, spanId: client, parentSpanId: gateway, ...during([10n, 80n]) },
    ].map((span) =>
      messagesOf(toProtobuf({ scope: { name: span.spanId }, spans: [{ ...span, attributes }] })),
    );
    for (const order of ['012', '021', '102', '120', '201', '210']) {
      const spaceId = await newSpace();
      for (const at of order) {
        for (const message of spans[Number(at)] ?? []) await message(database, spaceId);
        await new TraceResolver(database).run();
      }
      const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
      expect(
        rows.map(({ startTimeMs }) => startTimeMs),
        order,
      ).toEqual([1_000]);
    }
  },
);

/** Those whose spans belong together in one way only: of several equal ones, the order decides which. */
const definiteKinds: readonly string[] = traceKinds.filter((kind) => kind !== 'equalTwice');

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'traces in random requests, whose events and spans come in any order, are as sent at once: %s',
  async (seed) => {
    const random = createRandom(seed);
    const observed = traceKinds.map((kind, number) => observeTrace(random, kind, number));
    const [whole, pieces] = [await newSpace(), await newSpace()];
    const cutAll = () => observed.flatMap(({ spans }) => cut(random, shuffle(random, spans)).map(toRequest));
    // A retry may be cut in another way.
    const requests = [...cutAll(), ...cutAll().filter(() => random.between(0, 2) === 0)];
    const logged = observed.flatMap(({ events: [first] }) => (first?.type === 'llm' ? first : []));
    const logs = logged.map(logOf);
    const logMessages = logs.flatMap((bytes) => messagesOf(bytes, 'otlpLogs'));
    const definite = new Set(
      observed
        .filter((_, at) => definiteKinds.includes(traceKinds[at] ?? 'chain'))
        .flatMap(({ spans }) => spans.map(({ span }) => span.traceId)),
    );
    const spans = observed.flatMap((one) => one.spans);
    const evaluate = (own: typeof spans) => messagesOf(evaluationsOf(own), 'otlpLogs');
    const evaluations = cut(random, spans).flatMap(evaluate);
    const spanMessages = requests.flatMap((bytes) => messagesOf(bytes));
    await deliverAll(random, pieces, [...spanMessages, ...logMessages, ...evaluations]);
    for (const message of [...messagesOf(toRequest(spans)), ...logMessages, ...evaluate(spans)])
      await message(database, whole);
    await new TraceResolver(database).run();
    const [a, b] = [await readStored(database, pieces), await readStored(database, whole)];
    const isDefinite = ({ traceId }: { traceId: string | null }) =>
      definite.has(traceId?.replaceAll('-', '') ?? '');
    expect(a.events.filter(isDefinite)).toEqual(b.events.filter(isDefinite));
    expect({ ...a, events: a.events.length }).toEqual({ ...b, events: b.events.length });
    // The log of a call is one of its merged spans.
    const expected = observed
      .flatMap((one) => one.events)
      .map((event) => ({
        ...event,
        ...(logged.includes(event) && { merged: undefined, prompt: event.prompt ?? 'How warm?' }),
      }));
    for (const spaceId of [whole, pieces]) {
      expect(await findMismatches(database, spaceId, expected)).toEqual([]);
      expect(await findMisplaced(database, spaceId, observed)).toEqual([]);
    }
  },
);
