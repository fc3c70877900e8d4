import { and, eq, isNotNull } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partOf } from '../../harness/fixtures/part.ts';
import { eraseNodes } from '../../operations/erasure/erased-nodes.ts';
import { beginErasure } from '../../operations/erasure/erasure-row.ts';
import { createSpanReaders } from '../../services/ingest/otlp/batch/span-readers.ts';
import { eventIdOf, traceUuidOf } from '../../services/ingest/otlp/mapping/ids.ts';
import { unlimited } from '../../services/ingest/read/batch-reader.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { events, notes, traceNodes } from '../../store/db/schema.ts';
import { storeNotes } from '../../store/notes/store-notes.ts';
import { storeNodes } from '../../store/traces/store-nodes.ts';
import { TraceResolver } from '../../store/traces/trace-resolver.ts';
import { storeParts } from '../../store/write/store.ts';
import { evaluationsOf } from '../support/otlp/evaluated-spans.ts';
import { type Message, messagesOf, toRequest } from '../support/otlp/trace-messages.ts';
import { createDatabase } from '../support/test-servers.ts';
import { until } from '../support/wait.ts';

/**
 * A span or an event that is stored between two statements of a resolver: the call is one event then, too.
 */

const readers = createSpanReaders('weir', unlimited);
const resources = new AsyncDisposableStack();
let sql: Sql;
let database: Database;
let blocker: Sql;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', statementTimeoutMs: 60_000 };
  sql = resources.use(openPostgres(url, { ...options, connectionsMax: 4 }));
  database = openDatabase(sql);
  blocker = resources.use(openPostgres(url, { ...options, connectionsMax: 1 }));
});
afterAll(() => resources.disposeAsync());

const untilBlocked = () =>
  until(async () => (await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`).length > 0);

/** Calls `before` with the number of each statement, and waits for it. */
function intercept(before: (number: number) => Promise<unknown> | undefined): Database {
  let count = 0;
  const unsafe = (...statement: Parameters<Sql['unsafe']>) => {
    // It is sent when it is awaited.
    const query = sql.unsafe(...statement);
    count += 1;
    const result = Promise.resolve(before(count)).then(() => query);
    const values = () => {
      query.values();
      return result;
    };
    return Object.assign(result, { values });
  };
  return openDatabase(
    new Proxy(sql, { get: (target, name) => (name === 'unsafe' ? unsafe : Reflect.get(target, name)) }),
  );
}

const [traceId, clientTraceId] = ['1'.repeat(32), '2'.repeat(32)];
const chat = { 'gen_ai.operation.name': 'chat' };
const run = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'planner' };
const isKnown = { 'gen_ai.response.id': 'msg_1' };
const spanIds = { root: 'a'.repeat(16), run: 'b'.repeat(16), call: 'c'.repeat(16), below: 'd'.repeat(16) };

/** Two observations of one call: in another trace, or below. */
const others = {
  'of another trace': { traceId: clientTraceId, spanId: spanIds.below, attributes: { ...chat, ...isKnown } },
  'of the same trace': { traceId, spanId: spanIds.below, parentSpanId: spanIds.call, attributes: chat },
};

describe.each(Object.entries(others))('a call with an observation %s', (_, other) => {
  const ofRun = { traceId, spanId: spanIds.run, parentSpanId: spanIds.root, attributes: run };
  const [runNode] = messagesOf(toRequest([{ span: ofRun, library: 'framework' }]));
  const call = {
    traceId,
    spanId: spanIds.call,
    parentSpanId: spanIds.run,
    attributes: { ...chat, ...isKnown },
  };
  const own = messagesOf(toRequest([{ span: call, library: 'framework' }]));
  const observed = messagesOf(toRequest([{ span: other, library: 'client' }]));
  const messages = [...own, ...observed];
  const names = ['its event', 'its span', 'the event of the other', 'the span of the other'];

  /**
   * Runs a resolver, and delivers the last message before one of its statements.
   * @returns whether it has so many.
   */
  async function resolveWith(
    place: number,
    earlier: readonly Message[],
    start: (spaceId: string) => Promise<() => Promise<unknown>>,
  ): Promise<boolean> {
    const { id: spaceId } = await createSpace(database, 'test');
    if (runNode === undefined) throw new Error('the run of the agent has no span');
    const finish = await start(spaceId);
    for (const message of [runNode, ...earlier]) await message(database, spaceId);
    let isDelivered = false;
    const deliver = () => {
      isDelivered = true;
      return finish();
    };
    await new TraceResolver(intercept((number) => (number === place ? deliver() : undefined))).run();
    const wasBetween = isDelivered;
    if (!isDelivered) await deliver();
    await new TraceResolver(database).run();
    const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
    expect(
      rows.map(({ agentId }) => agentId),
      `before statement ${place}`,
    ).toEqual(['planner']);
    return wasBetween;
  }

  test.each(names.map((name, index) => [name, index] as const))('%s comes last', async (_name, index) => {
    const earlier = messages.filter((_message, at) => at !== index);
    const start = async (spaceId: string) => async () => messages[index]?.(database, spaceId);
    for (let place = 1; await resolveWith(place, earlier, start); place++);
  });

  test.each([
    [names[0], 0, call],
    [names[2], 2, other],
  ] as const)('%s is stored by a statement that does not see its span', async (_name, index, span) => {
    const earlier = messages.filter((_message, at) => at !== index);
    // The statement waits for another one that stores the same id.
    const start = async (spaceId: string) => {
      await blocker.unsafe('BEGIN');
      const id = eventIdOf(span.traceId, span.spanId);
      await blocker`INSERT INTO event_ids (space_id, id) VALUES (${spaceId}, ${id})`;
      const stored = messages[index]?.(database, spaceId);
      await untilBlocked();
      return async () => {
        await blocker.unsafe('ROLLBACK');
        await stored;
      };
    };
    for (let place = 1; await resolveWith(place, earlier, start); place++);
  });
});

describe('a trace whose spans come in one request with all of their parents', () => {
  const agent = { span: { traceId, spanId: spanIds.run, attributes: run }, library: 'framework' };
  const spanOf = (spanId: string, parentSpanId: string, library = 'framework') => ({
    span: { traceId, spanId, parentSpanId, attributes: chat },
    library,
  });
  const call = spanOf(spanIds.call, spanIds.run);

  test.each([
    { name: 'is resolved', spans: [agent, call], isUnresolved: false },
    { name: 'is not, when another request has sent an event of it', spans: [agent, call], wasSent: true },
    { name: 'is not, with a call above another', spans: [agent, call, spanOf(spanIds.below, spanIds.call)] },
    {
      name: 'is not, when two libraries describe calls',
      spans: [agent, call, spanOf(spanIds.below, spanIds.run, 'client')],
    },
  ])('$name', async ({ spans, isUnresolved = true, wasSent = false }) => {
    const { id: spaceId } = await createSpace(database, 'test');
    const { parts, nodes } = readers.otlp(toRequest(spans));
    const stored = parts.map(({ body }) => partOf(spaceId, JSON.parse(body.toString()).events));
    await storeParts(database, stored);
    const sent = nodes.map((json) => ({ json, receivedAtMs: BigInt(Date.now()) }));
    expect(await storeNodes(database, spaceId, { sent, newParts: wasSent ? [] : stored })).toBe(isUnresolved);
  });
});

describe('evaluations of a run, and of a call that is merged into another', () => {
  const spans = [
    { span: { traceId, spanId: spanIds.run, attributes: run }, library: 'framework' },
    { span: { traceId, spanId: spanIds.call, attributes: chat }, library: 'framework' },
    { span: others['of the same trace'], library: 'client' },
  ].flatMap((span) => messagesOf(toRequest([span])));
  const evaluatedIds = [spanIds.run, spanIds.call];
  const logs = evaluationsOf(evaluatedIds.map((spanId) => ({ span: { traceId, spanId } })));
  const evaluations = messagesOf(logs, 'otlpLogs');
  const messages = [...evaluations, ...spans];
  const noteId = JSON.parse(readers.otlpLogs(logs).notes[0] ?? '')[0].id;

  const settled = {
    [spanIds.run]: traceUuidOf(traceId),
    [spanIds.call]: eventIdOf(traceId, spanIds.below),
  };
  const readTargets = async (spaceId: string) => {
    const rows = await database.select().from(notes).where(eq(notes.spaceId, spaceId));
    return Object.fromEntries(rows.map(({ label, targetId }) => [label, targetId]));
  };

  test.each([...messages.keys()])('message %s comes last, between statements', async (last) => {
    for (let place = 1, wasBetween = true; wasBetween; place++) {
      const { id: spaceId } = await createSpace(database, 'test');
      for (const message of messages.toSpliced(last, 1)) await message(database, spaceId);
      let isDelivered = false;
      const deliver = () => {
        isDelivered = true;
        return messages[last]?.(database, spaceId);
      };
      await new TraceResolver(intercept((number) => (number === place ? deliver() : undefined))).run();
      wasBetween = isDelivered;
      if (!isDelivered) await deliver();
      await new TraceResolver(database).run();
      expect(await readTargets(spaceId), `before statement ${place}`).toEqual(settled);
    }
  });

  const noteOnCall: Message = (to, spaceId) =>
    storeNotes(to, spaceId, {
      notes: [
        {
          ...{ id: noteId, label: spanIds.call, target: 'event' },
          targetId: eventIdOf(traceId, spanIds.call),
        },
      ],
      ...{ author: 'key', authorId: noteId, createdAt: new Date() },
    });

  test.each([
    { name: 'evaluations', sent: evaluations, targets: settled },
    { name: 'a note on the event', sent: [noteOnCall], targets: { [spanIds.call]: settled[spanIds.call] } },
  ])('$name may be stored by a statement that does not see the merge', async ({ sent, targets }) => {
    const { id: spaceId } = await createSpace(database, 'test');
    for (const message of spans) await message(database, spaceId);
    await blocker.unsafe('BEGIN');
    await blocker`INSERT INTO notes (space_id, id, target, target_id, author, author_id, created_at)
      VALUES (${spaceId}, ${noteId}, 'event', '', 'key', ${noteId}, now())`;
    const stored = sent.map((message) => message(database, spaceId));
    await untilBlocked();
    await new TraceResolver(database).run();
    expect(await database.$count(events, eq(events.spaceId, spaceId))).toBe(1);
    await blocker.unsafe('ROLLBACK');
    await Promise.all(stored);
    await new TraceResolver(database).run();
    expect(await readTargets(spaceId)).toEqual(targets);
  });
});

test('spans that are erased between two statements of a resolver do not get their texts back', async () => {
  const spans = [
    { traceId, spanId: spanIds.call, parentSpanId: spanIds.run, attributes: chat },
    { traceId, spanId: spanIds.run, attributes: { ...run, 'user.id': 'gone' } },
  ].flatMap((span) => messagesOf(toRequest([{ span, library: 'framework' }])));
  for (let place = 1, wasBetween = true; wasBetween; place++) {
    const { id: spaceId } = await createSpace(database, 'test');
    for (const message of spans) await message(database, spaceId);
    const subject = { kind: 'user', value: 'gone' } as const;
    const start = { atMs: Date.now(), commitNumber: 0, watermarks: [] };
    const begun = { subject, start, reason: undefined, request: undefined };
    const erasure = await beginErasure(database, spaceId, begun);
    wasBetween = false;
    const erase = () => {
      wasBetween = true;
      return eraseNodes(database, erasure);
    };
    await new TraceResolver(intercept((number) => (number === place ? erase() : undefined))).run();
    if (!wasBetween) await eraseNodes(database, erasure);
    await new TraceResolver(database).run();
    const isNamed = and(eq(traceNodes.spaceId, spaceId), isNotNull(traceNodes.userId));
    expect(await database.$count(traceNodes, isNamed), `before statement ${place}`).toBe(0);
  }
});
