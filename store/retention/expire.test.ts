import { randomUUID } from 'node:crypto';
import { count, eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { mediaOf } from '../../harness/fixtures/media.ts';
import { encodePart, type Part } from '../../platform/queue/group.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { changeSpace, createSpace } from '../accounts/spaces.ts';
import { ClocksDifferError } from '../db/clock.ts';
import { openPostgres } from '../db/connect.ts';
import { limitQueries, openDatabase } from '../db/database.ts';
import { ensurePartitions, listPartitions } from '../db/partitions.ts';
import {
  agentStats,
  eventIds,
  eventStats,
  events,
  media,
  mediaUses,
  notes as notesTable,
  quarantine,
  queuePositions,
  segments,
  spaces,
  usageMonths,
} from '../db/schema.ts';
import { storeMedia } from '../media/store-media.ts';
import type { NewNote } from '../notes/note.ts';
import { storeNotes } from '../notes/store-notes.ts';
import { foldStatistics } from '../write/statistics/fold.ts';
import { expireData } from './expire.ts';
import { deletedSegmentsMax } from './limits.ts';
import { RetentionClock } from './retention-clock.ts';

/** A database with one connection for retention and others for everything else. */
async function openStore() {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await createDatabase());
  const open = (connectionsMax: number) =>
    stack.use(openPostgres(url, { applicationName: 'test', connectionsMax, statementTimeoutMs: 60_000 }));
  const [sql, session] = [open(4), open(1)];
  const [database, expiring] = [openDatabase(open(4)), openDatabase(open(1))];
  // A pass that waits for its locks takes ten seconds, longer on a busy machine: sessions of Weir end after
  // 15 s idle in a transaction.
  await session`SET idle_in_transaction_session_timeout = 0`;
  const owned = stack.move();
  type Table = typeof events | typeof segments | typeof eventIds | typeof eventStats | typeof agentStats;
  const countIn = async (table: Table, spaceId: string) =>
    (await database.select({ rows: count() }).from(table).where(eq(table.spaceId, spaceId)))[0]?.rows ?? 0;
  return {
    sql,
    /** A single connection, for a transaction or a lock. */
    session,
    database,
    countIn,
    createSpace: async (retentionDays: number | null) =>
      (await createSpace(database, 'test', { retentionDays })).id,
    /** Stores parts in the partitions of their weeks. */
    async store(parts: readonly Part[]) {
      await insertParts(database, parts);
      await ensurePartitions(database, Date.now());
    },
    expire: (retentionDaysMax?: number) =>
      expireData(expiring, { retentionDaysMax, nowMs: Date.now(), clock: new RetentionClock() }),
    /** Numbers of stored events and segments; checks that they agree. */
    async stored(spaceId: string) {
      const orphans = await sql`
        SELECT FROM events FULL JOIN (SELECT space_id, id AS segment_id FROM segments) AS s USING (space_id, segment_id)
        WHERE events.id IS NULL OR s IS NULL`;
      expect(orphans).toHaveLength(0);
      return [await countIn(events, spaceId), await countIn(segments, spaceId)];
    },
    partitions: async () =>
      (await Promise.all([events, segments].map((table) => listPartitions(database, table))))
        .flat()
        .map(({ name }) => name),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('fully expired partitions are dropped; ledger, usage and statistics stay', async () => {
  await using store = await openStore();
  const [short, long] = [await store.createSpace(30), await store.createSpace(60)];
  const context = { agentId: 'agent' };
  const gone = [llmEvent({ context }), llmEvent({ context })];
  const parts = [agedPart(short, gone, 100), agedPart(long, someEvents(3), 90)];
  await store.store([...parts, agedPart(long, someEvents(4), 10), agedPart(short, someEvents(5), 10)]);
  const before = await store.partitions();
  const result = await store.expire();
  expect(result).toMatchObject({ locked: [], events: 0, rewritten: 0 });
  expect(result?.dropped.length).toBeGreaterThanOrEqual(4);
  expect(await store.partitions()).toEqual(before.filter((name) => !result?.dropped.includes(name)));
  expect(await store.stored(short)).toEqual([5, 1]);
  expect(await store.stored(long)).toEqual([4, 1]);

  expect(await store.countIn(eventIds, short)).toBe(7);
  await foldStatistics(store.database);
  expect(await store.countIn(agentStats, short)).toBeGreaterThan(0);
  const stats = await store.database.select().from(eventStats).where(eq(eventStats.spaceId, short));
  expect(stats.reduce((sum, row) => sum + row.events, 0)).toBe(7);
  const usage = await store.database.select().from(usageMonths).where(eq(usageMonths.spaceId, short));
  expect(usage.reduce((sum, row) => sum + row.events, 0)).toBe(7);

  // Sent again, with a current and with an old receipt time: the ledger still knows the ids.
  expect(await insertParts(store.database, [agedPart(short, gone, 0), agedPart(short, gone, 100)])).toBe(0);
  expect(await store.stored(short)).toEqual([5, 1]);
});

test('a space with a shorter retention loses its events in batches; other spaces keep theirs', async () => {
  await using store = await openStore();
  const [short, forEver] = [await store.createSpace(7), await store.createSpace(null)];
  const parts = Array.from({ length: 1_200 }, (_, i) =>
    agedPart(short, someEvents(1 + (i % 3)), 20 + i / 600),
  );
  const kept = [20, 21, 22].map((days) => agedPart(forEver, someEvents(3), days));
  await store.store([...parts, ...kept, agedPart(short, someEvents(2), 6.9)]);
  expect(await store.expire()).toMatchObject({ dropped: [], events: 2_400 });
  expect(await store.stored(short)).toEqual([2, 1]);
  expect(await store.stored(forEver)).toEqual([9, 3]);
  expect(await store.expire()).toMatchObject({ dropped: [], events: 0 });
});

test('the global maximum applies to all spaces and never lengthens a retention', async () => {
  await using store = await openStore();
  const [short, forEver] = [await store.createSpace(7), await store.createSpace(null)];
  const aged = (spaceId: string) => [100, 20, 1].map((days) => agedPart(spaceId, someEvents(1), days));
  await store.store([...aged(short), ...aged(forEver)]);
  await store.expire(30);
  expect(await store.stored(short)).toEqual([1, 1]);
  expect(await store.stored(forEver)).toEqual([2, 2]);
});

test('without a retention nothing is deleted', async () => {
  await using store = await openStore();
  const spaceId = await store.createSpace(null);
  await store.store([agedPart(spaceId, someEvents(2), 3_000)]);
  expect(await store.expire()).toMatchObject({ dropped: [], locked: [], events: 0, quarantined: 0 });
  expect(await store.stored(spaceId)).toEqual([2, 1]);
});

test('rows in the default partition expire by receipt time, whatever their id', async () => {
  await using store = await openStore();
  const spaceId = await store.createSpace(7);
  const [expired, kept] = [agedPart(spaceId, someEvents(2), 8), agedPart(spaceId, someEvents(3), 6)];
  // A version 4 id, and an id from a clock that was far ahead.
  expired.segmentId = randomUUID();
  kept.segmentId = kept.segmentId.replace(/^..../, '7fff');
  await insertParts(store.database, [expired, kept]);
  expect(await store.expire()).toMatchObject({ dropped: [], events: 2 });
  expect(await store.stored(spaceId)).toEqual([3, 1]);
});

test('quarantine entries expire with the retention of their space', async () => {
  await using store = await openStore();
  const [short, forEver] = [await store.createSpace(7), await store.createSpace(null)];
  const entry = (spaceId: string, ageDays: number) => {
    const part = agedPart(spaceId, someEvents(1), ageDays);
    return {
      spaceId,
      receivedAt: new Date(Number(part.receivedAtMs)),
      eventCount: 1,
      sqlstate: '23514',
      message: 'refused',
      part: Buffer.from(encodePart(part)),
    };
  };
  const entries = [
    ...Array.from({ length: 450 }, () => entry(short, 8)),
    entry(short, 6),
    entry(forEver, 99),
  ];
  await store.database.insert(quarantine).values(entries);
  expect(await store.expire()).toMatchObject({ quarantined: 450 });
  const left = await store.database.select({ spaceId: quarantine.spaceId }).from(quarantine);
  expect(left.map(({ spaceId }) => spaceId).sort()).toEqual([short, forEver].sort());
});

test('notes expire with their event, and with the last event of their trace or thread', async () => {
  await using store = await openStore();
  const [short, forEver] = [await store.createSpace(7), await store.createSpace(null)];
  const at = (threadId: string) =>
    llmEvent({ id: randomUUID(), traceId: randomUUID(), context: { threadId } });
  const [old, older, young] = [at('both'), at('old'), at('both')];
  for (const spaceId of [short, forEver])
    await store.store([agedPart(spaceId, [old, older], 20), agedPart(spaceId, [young], 1)]);
  const on = (target: NewNote['target'], targetId: unknown) => ({
    ...{ id: randomUUID(), target, targetId: String(targetId), label: String(targetId) },
  });
  const lateId = randomUUID();
  const notes = [
    ...[on('event', old.id), on('event', young.id), on('event', lateId)],
    ...[on('trace', old.traceId), on('thread', 'old'), on('thread', 'both'), on('thread', 'later')],
  ];
  const author = { author: 'key', authorId: randomUUID() } as const;
  const add = (spaceId: string, daysAgo: number) =>
    storeNotes(store.database, spaceId, {
      notes,
      ...author,
      createdAt: new Date(Date.now() - daysAgo * 86_400_000),
    });
  const left = async (spaceId: string) => {
    const rows = await store.database.select().from(notesTable).where(eq(notesTable.spaceId, spaceId));
    return rows.map(({ targetId }) => targetId).toSorted();
  };
  for (const spaceId of [short, forEver]) expect(await add(spaceId, 10)).toEqual([]);
  expect(await store.expire()).toMatchObject({ events: 2, notes: 5 });
  expect(await left(short)).toEqual([String(young.id), 'both'].toSorted());
  expect(await left(forEver)).toHaveLength(notes.length);
  // Notes on what may still come are as young as they are.
  await store.database.delete(notesTable);
  await add(short, 1);
  expect(await store.expire()).toMatchObject({ notes: 0 });
  expect(await left(short)).toEqual(
    [String(young.id), lateId, String(old.traceId), 'old', 'both', 'later'].toSorted(),
  );
});

test('media expire by their newest use, and uses by themselves', async () => {
  await using store = await openStore();
  const [short, forEver] = [await store.createSpace(7), await store.createSpace(null)];
  const useOf = (id: string, daysAgo: number) => ({
    receivedAtMs: BigInt(Date.now() - daysAgo * 86_400_000),
    media: mediaOf({ id }),
  });
  // The order in which a queue delivers them does not matter.
  const uses = [useOf('old', 8), useOf('young', 1), useOf('both', 1), useOf('both', 8)];
  for (const spaceId of [short, forEver]) await storeMedia(store.database, spaceId, uses);
  expect(await store.expire()).toMatchObject({ media: 1 });
  const left = async (table: typeof media | typeof mediaUses, spaceId: string) =>
    store.database.$count(table, eq(table.spaceId, spaceId));
  expect([await left(media, short), await left(mediaUses, short)]).toEqual([2, 2]);
  expect([await left(media, forEver), await left(mediaUses, forEver)]).toEqual([3, 4]);
  // Known ids: a replay brings nothing back.
  await storeMedia(store.database, short, uses);
  expect([await left(media, short), await left(mediaUses, short)]).toEqual([2, 2]);
});

test('media stay while the queue is delivered again, which may have a later use, and go then, also without one', async () => {
  await using store = await openStore();
  const spaceId = await store.createSpace(7);
  const old = { receivedAtMs: BigInt(Date.now() - 8 * 86_400_000), media: mediaOf({ id: 'old' }) };
  await storeMedia(store.database, spaceId, [old]);
  await store.database.delete(mediaUses);
  const position = { stream: 'EVENTS', createdAt: new Date(), windowMs: 0, updatedAt: new Date() };
  await store.database.insert(queuePositions).values({ ...position, storedUpTo: 4, replayUpTo: 5 });
  expect(await store.expire()).toMatchObject({ media: 0 });
  await store.database.update(queuePositions).set({ storedUpTo: 5 });
  expect(await store.expire()).toMatchObject({ media: 1 });
});

test('a pass takes as many statements with many spaces as with one', async () => {
  await using store = await openStore();
  const [short, forEver] = [await store.createSpace(7), await store.createSpace(null)];
  // The event that is kept forever keeps its week, too.
  await store.store([agedPart(short, someEvents(2), 8), agedPart(forEver, someEvents(1), 8)]);
  await store.database
    .insert(spaces)
    .values(Array.from({ length: 500 }, (_, i) => ({ name: 'idle', retentionDays: 1 + (i % 60) })));
  let statements = 0;
  const session = openDatabase(store.session);
  const counting = limitQueries(session, (query) => {
    statements += 1;
    return query();
  });
  const clock = new RetentionClock();
  const result = await expireData(counting, { retentionDaysMax: undefined, nowMs: Date.now(), clock });
  expect(result).toMatchObject({ events: 2 });
  // A few for each partition and for the space with expired events.
  expect(statements).toBeLessThan(100);
});

test('removing a retention stops the pass in progress, and the remaining rows stay', async () => {
  await using store = await openStore();
  const [spaceId, forEver] = [await store.createSpace(7), await store.createSpace(null)];
  // Enough batches for a pass of some seconds, in a week that cannot be dropped.
  const parts = Array.from({ length: 4_000 }, () => agedPart(spaceId, someEvents(1), 20));
  for (let from = 0; from < parts.length; from += 500)
    await insertParts(store.database, parts.slice(from, from + 500));
  await store.store([agedPart(forEver, someEvents(1), 20)]);
  const expiring = store.expire();
  const left = () => store.countIn(segments, spaceId);
  await until(async () => (await left()) < parts.length);
  await changeSpace(store.database, spaceId, { retentionDays: null });
  const leftAtUndo = await left();
  await expiring;
  // At most the batch whose transaction had begun is still deleted.
  expect(await left()).toBeGreaterThanOrEqual(leftAtUndo - deletedSegmentsMax);
  expect(await left()).toBeGreaterThan(0);
  expect((await store.stored(spaceId))[0]).toBe(await left());
  expect(await store.expire()).toMatchObject({ events: 0 });
});

test('removing a retention keeps a week whose drop is waiting for a lock', async () => {
  await using store = await openStore();
  const spaceId = await store.createSpace(7);
  await store.store([agedPart(spaceId, someEvents(2), 30)]);
  await store.session`BEGIN`;
  // Blocks the drop before it checks the rows.
  await store.session`LOCK TABLE segments IN ROW EXCLUSIVE MODE`;
  const expiring = store.expire();
  await until(async () => (await store.sql`SELECT FROM pg_locks WHERE NOT granted`).length > 0);
  await changeSpace(store.database, spaceId, { retentionDays: null });
  await store.session`COMMIT`;
  expect(await expiring).toMatchObject({ dropped: [], events: 0 });
  expect(await store.stored(spaceId)).toEqual([2, 1]);
});

test('a week with an event from an ingest process with a wrong clock is kept until the event expires', async () => {
  await using store = await openStore();
  const spaceId = await store.createSpace(7);
  const [old, late] = [agedPart(spaceId, someEvents(1), 30), agedPart(spaceId, someEvents(2), 30)];
  // The id of its segment comes from the wrong clock, its receipt time does not.
  await store.store([old, Object.assign(late, { receivedAtMs: BigInt(Date.now()) })]);
  expect(await store.expire()).toMatchObject({ dropped: [], events: 1 });
  expect(await store.stored(spaceId)).toEqual([2, 1]);
});

test('while a long query reads the tables, nothing is dropped and writes continue; the drop follows later', async () => {
  await using store = await openStore();
  const spaceId = await store.createSpace(7);
  await store.store([agedPart(spaceId, someEvents(2), 30)]);
  await store.session`BEGIN`;
  await store.session`SELECT count(*) FROM events`;
  const blocked = store.expire();
  let hasEnded = false;
  void blocked.then(() => {
    hasEnded = true;
  });
  let writes = 0;
  while (!hasEnded) {
    expect(await insertParts(store.database, [agedPart(spaceId, someEvents(1), 0)])).toBe(1);
    writes += 1;
  }
  expect(writes).toBeGreaterThan(20);
  expect(await blocked).toMatchObject({ dropped: [], locked: expect.arrayContaining([expect.any(String)]) });
  await store.session`COMMIT`;
  await until(async () => (await store.expire())?.locked.length === 0);
  expect(await store.stored(spaceId)).toEqual([writes, writes]);
});

test('a mostly expired week gives its disk space back and keeps its unexpired rows', async () => {
  await using store = await openStore();
  const [short, forEver] = [await store.createSpace(7), await store.createSpace(null)];
  await ensurePartitions(store.database, Date.now() - 20 * 24 * 60 * 60_000);
  // On some days of the week an empty week in between has expired, and would be dropped.
  const between = await store.createSpace(null);
  await store.store([13, 6].map((days) => agedPart(between, someEvents(1), days)));
  const kept = Array.from({ length: 60 }, () => agedPart(forEver, someEvents(1), 20));
  const gone = Array.from({ length: 60 }, () => agedPart(short, someEvents(100), 20));
  // Kept rows lie between expired ones.
  await store.store(kept.flatMap((part, i) => [part, ...gone.slice(i, i + 1)]));
  const bytes = async () => {
    const [row] = await store.sql<{ bytes: number }[]>`
      SELECT sum(pg_total_relation_size(relid))::float8 AS bytes FROM pg_partition_tree('events') WHERE isleaf`;
    return row?.bytes ?? 0;
  };
  const [partitions, before] = [await store.partitions(), await bytes()];
  const columns = () =>
    store.sql`SELECT * FROM events JOIN segments ON segments.id = segment_id ORDER BY events.id`;
  const ofKept = (await columns()).filter((row) => row.space_id !== short);
  expect(await store.expire()).toMatchObject({ dropped: [], events: 6_000, rewritten: 1 });
  expect(await bytes()).toBeLessThan(before / 3);
  expect(await columns()).toEqual(ofKept);
  expect(await store.partitions()).toEqual(partitions);
  // The writer, retention and partition maintenance use the new partitions like the old ones.
  await store.store([agedPart(forEver, someEvents(2), 20), agedPart(short, someEvents(2), 20)]);
  expect(await store.stored(forEver)).toEqual([62, 61]);
  expect(await store.expire()).toMatchObject({ dropped: [], events: 2, rewritten: 0 });
  expect((await store.expire(10))?.dropped.length).toBeGreaterThanOrEqual(2);
  expect(await store.stored(forEver)).toEqual([0, 0]);
});

test('a segment locked by another transaction is deleted by a later pass', async () => {
  await using store = await openStore();
  const [short, forEver] = [await store.createSpace(7), await store.createSpace(null)];
  await store.store([agedPart(short, someEvents(4), 20), agedPart(forEver, someEvents(1), 20)]);
  await store.session`BEGIN`;
  expect(await store.session`SELECT FROM segments WHERE space_id = ${short} FOR UPDATE`).toHaveLength(1);
  expect(await store.expire()).toMatchObject({ events: 0 });
  expect(await store.stored(short)).toEqual([4, 1]);
  await store.session`COMMIT`;
  expect(await store.expire()).toMatchObject({ events: 4 });
  expect(await store.stored(short)).toEqual([0, 0]);
});

test('only one process at a time deletes', async () => {
  await using store = await openStore();
  await store.session`SELECT pg_advisory_lock(7394212)`;
  expect(await store.expire()).toBeUndefined();
  await store.session`SELECT pg_advisory_unlock(7394212)`;
  expect(await store.expire()).toBeDefined();
});

test('nothing is deleted while the clocks of Postgres and of the process differ', async () => {
  await using store = await openStore();
  const spaceId = await store.createSpace(7);
  await store.store([agedPart(spaceId, someEvents(2), 6)]);
  const inAYear = Date.now() + 365 * 24 * 60 * 60_000;
  const expiring = expireData(store.database, {
    retentionDaysMax: undefined,
    nowMs: inAYear,
    clock: new RetentionClock(),
  });
  await expect(expiring).rejects.toThrow(ClocksDifferError);
  expect(await store.stored(spaceId)).toEqual([2, 1]);
});
