import { randomUUIDv7 } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { hourMs, minuteMs } from '../../platform/time.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { noSpace } from '../db/limits.ts';
import { storeDelays } from '../db/schema.ts';
import { deleteOldDelays, foldDelays } from './fold-delays.ts';
import { commitsPerFoldMax } from './limits.ts';
import { readDelays } from './read-delays.ts';

const resources = new AsyncDisposableStack();
let sql: Sql;
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  sql = resources.use(
    openPostgres(url, { applicationName: 'test', connectionsMax: 6, statementTimeoutMs: 30_000 }),
  );
  database = openDatabase(sql);
});
afterAll(() => resources.disposeAsync());

/** A part whose events were received some time ago. */
function received(spaceId: string, count: number, agoMs: number) {
  const part = partOf(spaceId, someEvents(count));
  part.receivedAtMs = BigInt(Date.now() - agoMs);
  return part;
}

const recent = () => ({ fromMs: Date.now() - hourMs, toMs: Date.now() + minuteMs });

test('new events are counted once with the time since their receipt, also by several writers; redelivered ones are not', async () => {
  const [one, two] = [randomUUIDv7(), randomUUIDv7()];
  const late = received(one, 4, 20_000);
  await insertParts(database, [received(one, 200, 0), received(two, 3, 2 * hourMs)]);
  await insertParts(database, [late]);
  // A redelivery: nothing of it is new.
  await insertParts(database, [late]);
  const counted = await Promise.all(Array.from({ length: 4 }, () => foldDelays(database)));
  expect(counted.reduce((sum, events) => sum + events, 0)).toBe(207);
  expect(await foldDelays(database)).toBe(0);
  const { total, points, spanMs } = await readDelays(database, one, recent());
  expect(spanMs).toBe(5 * minuteMs);
  expect(total.events).toBe(204);
  expect(points.reduce((sum, { events }) => sum + events, 0)).toBe(204);
  // Of 204 events the four late ones are above the 98th percentile.
  expect(total.p50Ms).toBeLessThan(15_000);
  expect(total.p99Ms).toBeGreaterThan(20_000 * 0.95);
  const other = await readDelays(database, two, recent());
  expect(other.total.p50Ms).toBeGreaterThan(2 * hourMs * 0.94);
  expect(other.total.p50Ms).toBeLessThan(2 * hourMs * 1.2);
  expect((await readDelays(database, noSpace, recent())).total.events).toBe(207);
  const day = { fromMs: Date.now() - 48 * hourMs, toMs: Date.now() };
  expect(await readDelays(database, one, day)).toMatchObject({ spanMs: hourMs, total: { events: 204 } });
});

test('events whose ingest has a clock that is ahead count as stored at once; a space without events has no percentiles', async () => {
  const spaceId = randomUUIDv7();
  await insertParts(database, [received(spaceId, 2, -30_000)]);
  await foldDelays(database);
  const { total } = await readDelays(database, spaceId, recent());
  expect(total.events).toBe(2);
  expect(total.p99Ms).toBeLessThan(0.01);
  expect((await readDelays(database, randomUUIDv7(), recent())).total).toEqual({
    events: 0,
    p50Ms: null,
    p99Ms: null,
  });
});

test('commits of an older writer have no delays; a long backlog is counted in steps', async () => {
  const spaceId = randomUUIDv7();
  await insertParts(database, [received(spaceId, 1, 0)]);
  await foldDelays(database);
  // As many commits as two steps and one more. Only the first and the last have delays.
  const last = 1 + 2 * commitsPerFoldMax + 1;
  await sql`
    INSERT INTO space_commits (space_id, number, event_count, segment_ids, delays)
    SELECT ${spaceId}, number, 1, '{}', CASE WHEN number IN (2, ${last}) THEN ARRAY[(70::bigint << 40) | 5] END
    FROM generate_series(2, ${last}::bigint) AS number`;
  await sql`UPDATE commit_counters SET last_number = ${last} WHERE space_id = ${spaceId}`;
  const counted = [];
  for (let fold = 0; fold < 4; fold++) counted.push(await foldDelays(database));
  expect(counted).toEqual([5, 0, 5, 0]);
  expect((await readDelays(database, spaceId, recent())).total.events).toBe(11);
});

test('old rows are deleted: short spans after 8 days, long ones after 400', async () => {
  const spaceId = randomUUIDv7();
  const minutesAgo = (days: number) => Math.floor(Date.now() / minuteMs) - days * 24 * 60;
  const rows = [
    [5, 7],
    [5, 9],
    [60, 9],
    [60, 401],
  ] as const;
  await database.insert(storeDelays).values(
    rows.map(([spanMinutes, days]) => ({
      spaceId,
      spanMinutes,
      startMinute: minutesAgo(days),
      events: days,
      delays: [],
    })),
  );
  await deleteOldDelays(database);
  const kept = await database
    .select({ spanMinutes: storeDelays.spanMinutes, days: storeDelays.events })
    .from(storeDelays)
    .where(and(eq(storeDelays.spaceId, spaceId)))
    .orderBy(storeDelays.spanMinutes);
  expect(kept).toEqual([
    { spanMinutes: 5, days: 7 },
    { spanMinutes: 60, days: 9 },
  ]);
});
