import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashTerm, inSpace } from '../../event/terms.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { listPartitions, partitionedTables } from '../db/partitions.ts';
import { events } from '../db/schema.ts';
import { summarizeActivity } from './activity/activity-summary.ts';
import { isEventStored } from './event-existence.ts';
import type { EventFilter } from './event-filter.ts';
import { readEventPage } from './event-page.ts';
import { listLimits, newestLimits } from './limits.ts';

/**
 * Lists in a week that has just begun, at several sizes, when the planner has no statistics or only those of
 * the first rows.
 */

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  // Prepared plans and session statistics belong to a connection.
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 60_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
  for (const { table } of partitionedTables) {
    for (const { name } of await listPartitions(database, table)) {
      await database.execute(sql`ALTER TABLE ${sql.identifier(name)} SET (autovacuum_enabled = false)`);
    }
  }
});
afterAll(() => resources.disposeAsync());

const columns = { id: events.id, startTimeMs: events.startTimeMs };
const [spaceId, otherSpaceId] = [randomUUID(), randomUUID()];
const users = 1_000;
const eventsPerSegment = 10;
const firstMs = 1_760_000_000_000;

const term = (column: 'name' | 'userId', value: string) =>
  String(inSpace(spaceId, [hashTerm({ column, value }, 'any')])[0]);

/**
 * Stores segments with one user each. The first `retiredUntil` have the name `retired`, the others `current`.
 */
async function grow(
  ofSpace: string,
  { from, to, retiredUntil }: { from: number; to: number; retiredUntil: number },
) {
  const userTerms = `{${Array.from({ length: users }, (_, user) => term('userId', `user-${user}`)).join(',')}}`;
  await database.execute(sql`
    WITH numbered AS MATERIALIZED (SELECT n, uuidv7() AS id FROM generate_series(${from}::integer, ${to - 1}::integer) AS n),
    stored AS (
      INSERT INTO segments (space_id, id, api_key_id, received_at, event_count, raw_bytes, body, min_start_ms, max_start_ms, terms, projection)
      SELECT ${ofSpace}::uuid, id, id, now(), ${eventsPerSegment}, 1, decode(repeat('ab', 600), 'hex'), ${firstMs}::float8 + n, ${firstMs}::float8 + n,
        ARRAY[(${userTerms}::bigint[])[n % ${users}::integer + 1],
          CASE WHEN n < ${retiredUntil}::integer THEN ${term('name', 'retired')}::bigint ELSE ${term('name', 'current')}::bigint END], 1
      FROM numbered
    )
    INSERT INTO events (space_id, id, segment_id, segment_index, received_at, start_time_ms, end_time_ms, duration_ms, type, state,
      source, name, user_id)
    SELECT ${ofSpace}::uuid, gen_random_uuid(), id, place, now(), ${firstMs}::float8 + n, ${firstMs}::float8 + n, 0, 'llm', 'ok', 's',
      CASE WHEN n < ${retiredUntil}::integer THEN 'retired' ELSE 'current' END, 'user-' || n % ${users}::integer
    FROM numbered, generate_series(0, ${eventsPerSegment - 1}::integer) AS place`);
}

/** Table rows and index entries of events and segments read since the last call. */
async function countRead(): Promise<number> {
  await database.execute(sql`SELECT pg_stat_force_next_flush()`);
  const [row] = await database.execute<{ read: number }>(sql`
    SELECT sum(read)::integer AS read FROM (
      SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) AS read FROM pg_stat_user_tables
      WHERE relname ~ '^(events|segments)_'
      UNION ALL SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname ~ '^(events|segments)_'
    ) AS counted`);
  return row?.read ?? Number.NaN;
}

async function readOf(run: () => Promise<unknown>): Promise<number> {
  const before = await countRead();
  await run();
  return (await countRead()) - before;
}

const list = (filter: EventFilter) => () =>
  readEventPage(database, spaceId, { columns, filter, after: undefined, limit: 50 });

/** Thousands of the newest events, as for the most expensive ones. */
const newest = (filter: EventFilter) => () =>
  readEventPage(database, spaceId, {
    columns,
    filter,
    after: undefined,
    limit: 50_000,
    limits: newestLimits,
  });

const activeUsers = 30;
const activity = () =>
  summarizeActivity(database, spaceId, {
    column: 'userId',
    values: Array.from({ length: activeUsers }, (_, user) => `user-${user}`),
    range: {},
    position: undefined,
    eventsMax: 20_000,
  });

const sizes = [300, 3_000, 12_000];
const retiredUntil = 3_000;

test.each(sizes.map((to, place) => [to, sizes[place - 1] ?? 0]))(
  'with %i segments, lists read what they show plus a bounded number of other rows',
  async (to, from) => {
    if (from === 0) {
      // Statistics collected this early do not describe the rows that follow.
      await grow(otherSpaceId, { from: 0, to: 10, retiredUntil: 0 });
      await database.execute(sql`ANALYZE`);
    }
    await grow(spaceId, { from, to, retiredUntil });
    const ofUser = Math.ceil((to - 7) / users) * (eventsPerSegment + 1);
    const [{ id } = { id: '' }] = (await list({})()).rows;
    const read = {
      first: await readOf(list({})),
      user: await readOf(list({ userId: 'user-7' })),
      absent: await readOf(list({ name: 'absent' })),
      never: await readOf(list({ name: 'retired', userId: 'user-7', type: 'tool' })),
      longAgo: await readOf(list({ name: 'retired' })),
      text: await readOf(list({ text: 'absent' })),
      one: await readOf(() => isEventStored(database, spaceId, id)),
      newest: await readOf(newest({ name: 'current' })),
      newestOfTwo: await readOf(newest({ name: 'current', source: 's' })),
      activity: await readOf(activity),
    };
    // Postgres reads a partition of a few pages completely: index entries and rows.
    const few = 700;
    expect(read.first).toBeLessThan(few);
    expect(read.user).toBeLessThan(few + 4 * ofUser);
    expect(read.never).toBeLessThan(few);
    expect(read.absent).toBeLessThan(few + 2 * listLimits.firstWalkEvents);
    expect(read.text).toBeLessThan(few + 2 * listLimits.walkedEvents);
    // The walk, all segments of the value, and the events of the newest segments.
    expect(read.longAgo).toBeLessThan(
      few + 2 * (listLimits.walkedEvents + 2 * retiredUntil + listLimits.eventsPerRead),
    );
    expect(read.one).toBeLessThan(10);
    // A frequent value: no list of all its segments.
    for (const reads of [read.newest, read.newestOfTwo])
      expect(reads).toBeLessThan(few + 2 * (listLimits.firstWalkEvents + newestLimits.walkedEvents));
    // The segments of these users, and their events.
    expect(read.activity).toBeLessThan(few + 2 * activeUsers * ofUser);
  },
);

test('a frequent value behind 24,000 newer events of another is found without a list of all its segments', async () => {
  const [last = 0] = sizes.slice(-1);
  const newer = 2_400;
  await grow(spaceId, { from: last, to: last + newer, retiredUntil: last + newer });
  const read = await readOf(async () => {
    expect(await list({ name: 'current' })()).toMatchObject({ rows: { length: 50 }, isComplete: true });
  });
  // The walk of events, the index entries that the first listing counts, the walk of segments, and the events
  // of one read.
  const entries = last - retiredUntil;
  expect(read).toBeLessThan(
    2 * listLimits.firstWalkEvents +
      entries +
      2 * (newer + listLimits.segmentsAtOnce + listLimits.firstReadEvents),
  );
});
