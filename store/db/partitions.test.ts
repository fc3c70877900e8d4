import { randomUUIDv7 } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { storeParts } from '../write/store.ts';
import { readServerClock } from './clock.ts';
import { openPostgres, type Sql } from './connect.ts';
import { type Database, openDatabase } from './database.ts';
import { ensurePartitions, findPartitionFaults, listPartitions } from './partitions.ts';
import { events, segments } from './schema.ts';
import { boundOf, weekOf } from './weeks.ts';

const weekMs = 7 * 86_400_000;

let resources: AsyncDisposableStack;
let sql: Sql;
let database: Database;
let nowMs: number;
let url: string;
beforeEach(async () => {
  resources = new AsyncDisposableStack();
  ({ url } = resources.use(await createDatabase()));
  const options = { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 30_000 };
  sql = resources.use(openPostgres(url, options));
  database = openDatabase(sql);
  nowMs = await readServerClock(database);
});
afterEach(() => resources.disposeAsync());

/** A UUIDv7 of a time. */
const idAt = (atMs: number) => boundOf(atMs).slice(0, 13) + randomUUIDv7().slice(13);

const store = async (segmentId: string) => {
  const spaceId = randomUUIDv7();
  await insertParts(database, [partOf(spaceId, someEvents(3), { segmentId })]);
  return spaceId;
};

/** The partitions that contain the space's events and segments. */
async function whereIs(spaceId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT DISTINCT tableoid::regclass::text AS name FROM events WHERE space_id = ${spaceId}
    UNION SELECT tableoid::regclass::text FROM segments WHERE space_id = ${spaceId} ORDER BY name`;
  return rows.map(({ name }) => name);
}

test('a new database has partitions from the current week to five weeks ahead, without a gap', async () => {
  for (const table of [events, segments]) {
    const partitions = await listPartitions(database, table);
    expect(partitions.at(-1)?.range).toBeUndefined();
    const ranges = partitions.flatMap(({ range }) => range ?? []);
    expect(ranges[0]?.fromMs).toBe(weekOf(nowMs).fromMs);
    expect(ranges.at(-1)?.toMs).toBe(weekOf(nowMs, 5).toMs);
    expect(ranges.slice(1).map(({ fromMs }) => fromMs)).toEqual(ranges.slice(0, -1).map(({ toMs }) => toMs));
  }
  expect(await findPartitionFaults(database, nowMs)).toEqual([]);
});

test('later, partitions are created by several processes at once, while events are stored', async () => {
  const later = nowMs + 20 * weekMs;
  const storing = Array.from({ length: 10 }, (_, i) => store(idAt(later + i * weekMs)));
  const making = Array.from({ length: 4 }, () => ensurePartitions(database, later));
  const spaceIds = await Promise.all(storing);
  // A call that waits too long for a lock fails, and is repeated.
  await Promise.allSettled(making);
  await ensurePartitions(database, later);
  expect((await listPartitions(database, events)).flatMap(({ range }) => range ?? [])).toHaveLength(12);
  for (const spaceId of spaceIds.slice(0, 6)) expect(await whereIs(spaceId)).not.toContain('events_default');
});

test('a fault is reported when the current or the next week has no partition, or the default partition has rows', async () => {
  await store(idAt(nowMs + 400 * weekMs));
  expect(await findPartitionFaults(database, nowMs)).toEqual([
    expect.stringMatching(/^segments_default holds rows/),
    expect.stringMatching(/^events_default holds rows/),
  ]);
  const faults = await findPartitionFaults(database, nowMs + 5 * weekMs);
  expect(faults.filter((fault) => fault.includes('has no partition for the week of'))).toHaveLength(2);
});

test('rows of the default partition move into the partition of their week when it is created', async () => {
  const late = await store(idAt(nowMs - 3 * weekMs));
  const early = await store(idAt(nowMs + 8 * weekMs));
  const never = await store('ffffffff-ffff-4fff-bfff-ffffffffffff');
  expect(await whereIs(late)).toEqual(['events_default', 'segments_default']);
  await ensurePartitions(database, nowMs);
  expect(await whereIs(late)).not.toContain('events_default');
  expect(await whereIs(early)).toEqual(['events_default', 'segments_default']);
  await ensurePartitions(database, nowMs + 4 * weekMs);
  expect(await whereIs(early)).toHaveLength(2);
  expect(await whereIs(early)).not.toContain('events_default');
  expect(await whereIs(never)).toEqual(['events_default', 'segments_default']);
  for (const spaceId of [late, early, never])
    expect(await sql`SELECT FROM events WHERE space_id = ${spaceId}`).toHaveLength(3);
});

test('events that wait for the default partition while their week is attached are stored, not quarantined', async () => {
  await using session = openPostgres(url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  await session`BEGIN`;
  await ensurePartitions(openDatabase(session), nowMs + 3 * weekMs);
  const spaceId = randomUUIDv7();
  const storing = storeParts(database, [
    partOf(spaceId, someEvents(1), { segmentId: idAt(nowMs + 8 * weekMs) }),
  ]);
  await until(async () => {
    const waiting =
      await sql`SELECT FROM pg_locks WHERE NOT granted AND relation::regclass::text LIKE '%_default'`;
    return waiting.length > 0;
  });
  await session`COMMIT`;
  expect(await storing).toMatchObject({ inserted: 1, quarantined: 0 });
  expect(await whereIs(spaceId)).toHaveLength(2);
  expect(await whereIs(spaceId)).not.toContain('events_default');
});

test('a past week that cannot be created does not stop the weeks ahead, nor the other past weeks', async () => {
  const oldest = await store(idAt(0));
  const [taken, late] = [await store(idAt(nowMs - 5 * weekMs)), await store(idAt(nowMs - 3 * weekMs))];
  await sql.unsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''this row stays''; END';
    CREATE TRIGGER stays BEFORE DELETE ON events_default FOR EACH ROW WHEN (OLD.space_id = '${taken}') EXECUTE FUNCTION refuse();
  `);
  await expect(ensurePartitions(database, nowMs + 2 * weekMs)).rejects.toThrow('this row stays');
  expect(await findPartitionFaults(database, nowMs + 6 * weekMs)).not.toContainEqual(
    expect.stringContaining('has no partition'),
  );
  expect(await whereIs(oldest)).toEqual(['events_19700101', 'segments_19700101']);
  expect(await whereIs(late)).not.toContain('events_default');
  expect(await whereIs(taken)).toContain('events_default');
});

test('a partition created later has the indexes and the storage settings of the others', async () => {
  await ensurePartitions(database, nowMs + 30 * weekMs);
  const tables = await sql<{ name: string; indexes: number; storage: string }[]>`
    SELECT relname AS name, (SELECT count(*)::integer FROM pg_index WHERE indrelid = pg_class.oid) AS indexes,
      (SELECT attstorage FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'body') AS storage
    FROM pg_class WHERE relkind = 'r' AND relispartition OR relname IN ('events', 'segments')`;
  const kinds = Map.groupBy(
    tables,
    ({ name, indexes, storage }) => `${name.split('_')[0]} ${indexes} ${storage}`,
  );
  // The partitioned tables themselves are among them.
  expect([...kinds.keys()].sort()).toEqual(['events 3 null', expect.stringMatching(/^segments \d+ e$/)]);
});

test('partitions with the planner statistics of an older version get the present ones', async () => {
  const frequencies = () => sql`SELECT DISTINCT most_common_elem_freqs::text AS all FROM pg_stats
    WHERE tablename LIKE 'segments%' AND attname = 'terms' AND NOT inherited`;
  const present = await frequencies();
  expect(present).toHaveLength(1);
  const [{ name } = { name: '' }] = await listPartitions(database, segments);
  await sql`SELECT pg_restore_attribute_stats('schemaname', 'public', 'relname', ${name}::text, 'attname', 'terms',
    'inherited', false, 'null_frac', 0::real, 'avg_width', 200, 'n_distinct', (-1)::real,
    'most_common_elems', '{0}'::text, 'most_common_elem_freqs', '{0.0001,0.0001,0.0001,0}'::real[])`;
  expect(await frequencies()).toHaveLength(2);
  await ensurePartitions(database, nowMs);
  expect(await frequencies()).toEqual(present);
});
