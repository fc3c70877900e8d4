import { createHash, randomUUIDv7 } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { and, count, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countBits, countsPerMerge, latencyBucketOf } from '../../event/latency.ts';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import {
  deletedSpaces,
  eventIds,
  eventStats,
  eventStatsRollups,
  events,
  quarantine,
  segments,
  statisticDeltas,
  usageDays,
  usageMonths,
} from '../db/schema.ts';
import { quarantineEvent } from './quarantine.ts';
import { replayQuarantined } from './replay.ts';
import { slicePart } from './slice.ts';
import { storeOnlyNewStatement, storeParameters, storeStatement } from './statement.ts';
import { foldStatistics } from './statistics/fold.ts';
import { replayPart, storeParts } from './store.ts';

const resources = new AsyncDisposableStack();
let url: string;
let sql: Sql;
let database: Database;
beforeAll(async () => {
  ({ url } = resources.use(await createDatabase()));
  sql = resources.use(
    openPostgres(url, { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 30_000 }),
  );
  database = openDatabase(sql);
});
afterAll(() => resources.disposeAsync());

test('a replay stores a part only together with the removal of its entry, and once among concurrent replays', async () => {
  const spaceId = randomUUIDv7();
  const part = partOf(spaceId, [llmEvent()]);
  const id = part.columns?.id ?? '';
  await quarantineEvent(database, part, { sqlstate: '23514', message: 'refused' });
  const [entry] = await database.select().from(quarantine).where(eq(quarantine.id, id));
  const hash = createHash('sha256')
    .update(entry?.part ?? '')
    .digest();
  // An erasure has rewritten the entry since it was read.
  expect(await replayPart(database, part, { spaceId, id, hash: createHash('sha256').digest() })).toBe(false);
  expect(await counts(spaceId)).toEqual({ stored: 0, billed: undefined, ids: 0 });
  const replays = Array.from({ length: 3 }, () => replayPart(database, part, { spaceId, id, hash }));
  expect((await Promise.all(replays)).toSorted()).toEqual([false, false, true]);
  expect(await counts(spaceId)).toEqual({ stored: 1, billed: 1, ids: 1 });
  expect(await database.select().from(quarantine).where(eq(quarantine.spaceId, spaceId))).toEqual([]);
  const days = await database.select().from(usageDays).where(eq(usageDays.spaceId, spaceId));
  expect(days).toMatchObject([{ events: 1, repeats: 0 }]);
});

test('a replay that Postgres rejects keeps its entry', async () => {
  const spaceId = randomUUIDv7();
  const part = partOf(spaceId, [llmEvent()]);
  if (part.columns) part.columns.type = '';
  await quarantineEvent(database, part, { sqlstate: '23502', message: 'refused' });
  expect(await replayQuarantined(database, { spaceId })).toMatchObject({
    replayed: [],
    failed: [{ sqlstate: '23502' }],
  });
  expect(await counts(spaceId)).toEqual({ stored: 0, billed: undefined, ids: 0 });
  expect(await database.select().from(quarantine).where(eq(quarantine.spaceId, spaceId))).toHaveLength(1);
});

/** The stored and billed events of a space, and the number of ids in the ledger. */
async function counts(spaceId: string) {
  const countIn = async (table: typeof events | typeof eventIds) =>
    (await database.select({ rows: count() }).from(table).where(eq(table.spaceId, spaceId)))[0]?.rows;
  const [usage] = await database.select().from(usageMonths).where(eq(usageMonths.spaceId, spaceId));
  return { stored: await countIn(events), billed: usage?.events, ids: await countIn(eventIds) };
}

test('of events with equal ids in one statement the first is stored, within a part and across parts', async () => {
  const spaceId = randomUUIDv7();
  const [a, b, c] = [llmEvent(), llmEvent(), llmEvent()];
  const second = { ...a, startTimeMs: 1 };
  const parts = [partOf(spaceId, [a, b, second]), partOf(spaceId, [second, c, b])];
  expect(await insertParts(database, parts)).toBe(3);
  expect(await counts(spaceId)).toEqual({ stored: 3, billed: 3, ids: 3 });
  const [row] = await database
    .select()
    .from(events)
    .where(eq(events.id, String(a.id)));
  expect(row).toMatchObject({ startTimeMs: a.startTimeMs, segmentId: parts[0]?.segmentId, segmentIndex: 0 });
});

test('events are expected to be new until the ledger has one of them; that leaves no trace, and nothing is counted twice', async () => {
  await using pool = openPostgres(url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 30_000,
  });
  const own = openDatabase(pool);
  /** How often the connection has run the statement for new events only, and the other one. */
  const runs = async () => {
    const rows = await pool<{ statement: string; runs: number }[]>`
      SELECT statement, (generic_plans + custom_plans)::int AS runs FROM pg_prepared_statements`;
    const runsOf = (text: string) => rows.find(({ statement }) => statement === text)?.runs ?? 0;
    return [runsOf(storeOnlyNewStatement.text), runsOf(storeStatement.text)];
  };
  const spaceId = randomUUIDv7();
  const [a, b, c] = [llmEvent(), llmEvent(), llmEvent()];
  expect(await insertParts(own, [partOf(spaceId, [a]), partOf(spaceId, [b])])).toBe(2);
  expect(await runs()).toEqual([1, 0]);
  // A redelivery, together with an event that is new.
  expect(await insertParts(own, [partOf(spaceId, [c]), partOf(spaceId, [a]), partOf(spaceId, [b])])).toBe(1);
  expect(await counts(spaceId)).toEqual({ stored: 3, billed: 3, ids: 3 });
  expect(await runs()).toEqual([2, 1]);
  // The next ones are not tried first.
  expect(await insertParts(own, [partOf(spaceId, [llmEvent()])])).toBe(1);
  expect(await runs()).toEqual([2, 2]);
});

test('a statement for new events only writes no rows before it meets a known id', async () => {
  const spaceId = randomUUIDv7();
  const known = partOf(spaceId, [llmEvent()]);
  expect(await insertParts(database, [known])).toBe(1);
  // Rows that are rolled back stay in the files.
  const rowBytes = async () => {
    const [row] = await sql<{ bytes: number }[]>`
      SELECT sum(pg_relation_size(relid))::int AS bytes FROM pg_partition_tree('events')`;
    return row?.bytes;
  };
  const before = await rowBytes();
  const parts = [partOf(spaceId, someEvents(500)), known];
  const failing = sql.unsafe(storeOnlyNewStatement.text, storeParameters(storeOnlyNewStatement, parts));
  await expect(failing).rejects.toMatchObject({ code: '23505', table_name: 'event_ids' });
  expect(await rowBytes()).toBe(before);
});

test('slices of a part are stored by one statement, each in a segment of its own', async () => {
  const spaceId = randomUUIDv7();
  const whole = partOf(
    spaceId,
    [3, 1, 2].map((startTimeMs) => llmEvent({ startTimeMs })),
  );
  const pieces = [slicePart(whole, 0, 1), slicePart(whole, 1, 3)];
  expect(await insertParts(database, pieces)).toBe(3);
  expect(await insertParts(database, pieces.toReversed())).toBe(0);
  const rows = await database
    .select({ index: events.segmentIndex, start: events.startTimeMs })
    .from(events)
    .where(eq(events.spaceId, spaceId))
    .orderBy(events.segmentIndex);
  expect(rows).toEqual([
    { index: 0, start: 3 },
    { index: 1, start: 1 },
    { index: 2, start: 2 },
  ]);
  const stored = await database
    .select()
    .from(segments)
    .where(eq(segments.spaceId, spaceId))
    .orderBy(segments.minStartMs);
  expect(stored).toMatchObject([
    { minStartMs: 1, maxStartMs: 2, eventCount: 2 },
    { minStartMs: 3, maxStartMs: 3, eventCount: 1 },
  ]);
  const terms = stored.flatMap((segment) => segment.terms ?? []);
  expect(new Set(terms)).toEqual(new Set(whole.terms.split(',').map(BigInt)));
});

test('the id of a deleted event stays known: a resent event is neither stored nor billed', async () => {
  const spaceId = randomUUIDv7();
  const [gone, kept] = [llmEvent(), llmEvent()];
  await insertParts(database, [partOf(spaceId, [gone])]);
  await database.delete(events).where(eq(events.spaceId, spaceId));
  await database.delete(segments).where(eq(segments.spaceId, spaceId));
  expect(await insertParts(database, [partOf(spaceId, [gone])])).toBe(0);
  expect(await insertParts(database, [partOf(spaceId, [gone, kept])])).toBe(1);
  expect(await counts(spaceId)).toEqual({ stored: 1, billed: 2, ids: 2 });
  expect(await database.select().from(segments).where(eq(segments.spaceId, spaceId))).toHaveLength(1);
});

test('a rejected event whose id is in the ledger is not kept in quarantine: it may have been erased from there', async () => {
  const spaceId = randomUUIDv7();
  const part = partOf(spaceId, [llmEvent()]);
  await database.insert(eventIds).values({ spaceId, id: part.columns?.id ?? '' });
  await quarantineEvent(database, part, { sqlstate: '23514', message: 'refused' });
  expect(await database.$count(quarantine, eq(quarantine.spaceId, spaceId))).toBe(0);
});

test('overlapping statements, concurrent and in any order, store and bill each event once', async () => {
  const spaceIds = [randomUUIDv7(), randomUUIDv7()];
  const sent = someEvents(200);
  const statements = Array.from({ length: 16 }, (_, i) => {
    const rotated = [...sent.slice(i * 12), ...sent.slice(0, i * 12)].slice(0, 150);
    const ordered = i % 2 === 0 ? rotated : rotated.toReversed();
    return spaceIds.map((spaceId) => partOf(spaceId, ordered));
  });
  const inserted = await Promise.all(statements.map((parts) => insertParts(database, parts)));
  expect(inserted.reduce((sum, rows) => sum + rows)).toBe(400);
  await Promise.all([foldStatistics(database), foldStatistics(database)]);
  for (const spaceId of spaceIds) {
    expect(await counts(spaceId)).toEqual({ stored: 200, billed: 200, ids: 200 });
    const stats = await database.select().from(eventStats).where(eq(eventStats.spaceId, spaceId));
    expect(stats.reduce((sum, row) => sum + row.events, 0)).toBe(200);
  }
});

test('a sketch counts each event once and stays short, in any batching of its events', async () => {
  const spaceId = randomUUIDv7();
  const durations = Array.from({ length: 300 }, (_, i) => 1 + (i % 3) * 1_000);
  const sent = durations.map((durationMs) => ({ ...llmEvent({ startTimeMs: 60_000 }), durationMs }));
  // One by one, then more at once than are counted between two merges.
  for (const event of sent.slice(0, 100)) await insertParts(database, [partOf(spaceId, [event])]);
  await insertParts(database, [partOf(spaceId, sent.slice(100, 200)), partOf(spaceId, sent.slice(200))]);
  await foldStatistics(database);
  expect(await database.$count(statisticDeltas, eq(statisticDeltas.spaceId, spaceId))).toBe(0);
  expect(await database.$count(eventStatsRollups, eq(eventStatsRollups.spaceId, spaceId))).toBe(2);
  for (const table of [eventStats, eventStatsRollups]) {
    for (const { events: counted, latency } of await database
      .select()
      .from(table)
      .where(eq(table.spaceId, spaceId))) {
      expect(counted).toBe(300);
      expect(latency.length).toBeLessThan(3 + countsPerMerge);
      const counts = new Map<number, number>();
      for (const element of latency) {
        const bucket = Number(element >> BigInt(countBits));
        counts.set(bucket, (counts.get(bucket) ?? 0) + Number(element & (2n ** BigInt(countBits) - 1n)));
      }
      expect(counts).toEqual(new Map([1, 1_001, 2_001].map((ms) => [latencyBucketOf(ms), 100])));
    }
  }
});

test('deltas of a space whose deletion has begun are deleted, and not counted', async () => {
  const [spaceId, other] = [randomUUIDv7(), randomUUIDv7()];
  await insertParts(database, [partOf(spaceId, someEvents(2)), partOf(other, someEvents(3))]);
  const row = { spaceId, name: 'deleted', requestedAt: new Date(), requestedBy: 'operator' };
  await database.insert(deletedSpaces).values(row);
  expect(await foldStatistics(database)).toBeGreaterThanOrEqual(2);
  expect(await foldStatistics(database)).toBe(0);
  expect(await database.$count(eventStats, eq(eventStats.spaceId, spaceId))).toBe(0);
  expect(await database.$count(eventStats, eq(eventStats.spaceId, other))).toBeGreaterThan(0);
});

test('a part of an older ingest, without later fields, is stored', async () => {
  const spaceId = randomUUIDv7();
  const part = partOf(spaceId, someEvents(2));
  const ofIngest = part.terms.split(',').map(BigInt);
  part.terms = '';
  const added = { cacheReadTokens: '', cacheWriteTokens: '', reasoningTokens: '' };
  Object.assign(part.columns ?? {}, added);
  expect(await insertParts(database, [part])).toBe(2);
  const [segment] = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  // The writer then computes the terms from the columns.
  expect(new Set(segment?.terms)).toEqual(new Set(ofIngest));
});

test('a segment has its terms and the range of its start times', async () => {
  const spaceId = randomUUIDv7();
  const [first, second] = [40, 7].map((startTimeMs) => llmEvent({ startTimeMs }));
  const parts = [
    partOf(spaceId, [first, second], { terms: '-9223372036854775808,12' }),
    partOf(spaceId, [llmEvent({ startTimeMs: 9 })], { terms: '3' }),
  ];
  await insertParts(database, parts);
  const stored = await database
    .select()
    .from(segments)
    .where(eq(segments.spaceId, spaceId))
    .orderBy(segments.maxStartMs);
  expect(stored).toMatchObject([
    { minStartMs: 9, maxStartMs: 9, terms: [3n] },
    { minStartMs: 7, maxStartMs: 40, terms: [-(2n ** 63n), 12n] },
  ]);
});

test('segments have exactly their stored events when Postgres rejects one in their middle', async () => {
  const spaceId = randomUUIDv7();
  await sql`ALTER TABLE events ADD CONSTRAINT poison CHECK (name <> 'poison')`;
  const poison = llmEvent({ startTimeMs: 1_000, properties: { llm: { model: 'poison' } } });
  const times = [5, 6, 3, poison, 9, 1, 8].map((startTimeMs) =>
    typeof startTimeMs === 'number' ? llmEvent({ startTimeMs }) : startTimeMs,
  );
  expect(await storeParts(database, [partOf(spaceId, times)])).toMatchObject({ inserted: 6, quarantined: 1 });
  await sql`ALTER TABLE events DROP CONSTRAINT poison`;
  const stored = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
  for (const { id, body, eventCount, minStartMs, maxStartMs } of stored) {
    const own = rows.filter(({ segmentId }) => segmentId === id).map(({ startTimeMs }) => startTimeMs);
    expect([minStartMs, maxStartMs]).toEqual([Math.min(...own), Math.max(...own)]);
    const texts: (0 | { startTimeMs: number })[] = JSON.parse(zstdDecompressSync(body).toString()).events;
    expect(texts.flatMap((text) => (text === 0 ? [] : text.startTimeMs)).sort()).toEqual(own.sort());
    expect(own).toHaveLength(eventCount);
  }
});

test('an event is in the partition of its week, or in the default partition when the clock was wrong', async () => {
  const spaceId = randomUUIDv7();
  const [now, later] = [someEvents(1), someEvents(1)];
  const farAhead = randomUUIDv7().replace(/^..../, '7fff');
  await insertParts(database, [partOf(spaceId, now), partOf(spaceId, later, { segmentId: farAhead })]);
  const rows = await sql<{ partition: string }[]>`
    SELECT tableoid::regclass::text AS partition FROM events WHERE space_id = ${spaceId} ORDER BY segment_id`;
  // On Citus the names of shards, with a number.
  expect(rows.map(({ partition }) => partition)).toEqual([
    expect.stringMatching(/^events_20\d{6}(_\d+)?$/),
    expect.stringMatching(/^events_default(_\d+)?$/),
  ]);
  const where = and(eq(segments.spaceId, spaceId), eq(segments.id, farAhead));
  expect(await database.select({ id: segments.id }).from(segments).where(where)).toHaveLength(1);
});
