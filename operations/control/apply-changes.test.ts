import { getTableColumns, getTableName } from 'drizzle-orm';
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../harness/random.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { dayMs, hourMs } from '../../platform/time.ts';
import { keyOf, type LoggedTable, loggedTables } from '../../store/control/logged-tables.ts';
import { hasPendingChanges, relayControlChanges } from '../../store/control/relay.ts';
import { ensureControlStream, readControlState } from '../../store/control/stream.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { RetentionClock } from '../../store/retention/retention-clock.ts';
import { createDatabase, startNats } from '../../test/support/test-servers.ts';
import { applyControlChanges } from './apply-changes.ts';

const resources = new AsyncDisposableStack();
let nats: Awaited<ReturnType<typeof connectQueue>>;
beforeAll(async () => {
  const server = resources.use(await startNats());
  nats = resources.use(await connectQueue(server.url, 'test'));
  await ensureControlStream(nats, { NATS_REPLICAS: 1 });
});
afterAll(() => resources.disposeAsync());

const open = (url: string) =>
  openPostgres(url, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 });

test('a restored copy has, after the changes are applied, the rows that were lost, table by table', async () => {
  const source = await createDatabase();
  const name = new URL(source.url).pathname.slice(1);
  let sql = open(source.url);
  for (let i = 0; i < 100; i++) await changeSomething(sql);
  await relayControlChanges(openDatabase(sql), nats);
  const backup = await readControlState(nats);
  for (let i = 0; i < 50; i++) await changeSomething(sql);
  // Some of the changes before the restored time are in the stream, others are still in the table.
  await relayControlChanges(openDatabase(sql), nats);
  for (let i = 0; i < 20; i++) await changeSomething(sql);
  await sql.end();
  await using copy = await createDatabase({ template: name });
  sql = open(source.url);
  const atCopy = await readRows(sql);
  for (let i = 0; i < 200; i++) await changeSomething(sql);
  await relayControlChanges(openDatabase(sql), nats);
  expect(await hasPendingChanges(openDatabase(sql))).toBe(false);
  const lost = await readRows(sql);
  await sql.end();
  await source[Symbol.asyncDispose]();

  await using restored = open(copy.url);
  const database = openDatabase(restored);
  const start = { afterSequence: backup?.lastSequence ?? 0 };
  const [{ highest } = { highest: 0 }] = await restored<{ highest: number }[]>`
    SELECT coalesce(max(number), 0)::float8 AS highest FROM control_changes`;
  const applied = await applyControlChanges(database, nats, { start });
  expect(applied).toMatchObject({ skipped: 0, gap: undefined });
  // Deletions of spaces are requested again: of those that are marked, and of those that were deleted.
  const deletions = await restored<{ id: string }[]>`
    SELECT id FROM spaces WHERE delete_at IS NOT NULL UNION ALL SELECT space_id FROM deleted_spaces`;
  const requests = await restored<{ id: string }[]>`
    SELECT id FROM erasure_requests WHERE subject = 'space' AND id = space_id`;
  const requested = new Set(requests.map(({ id }) => `${id}/${id}`));
  expect(requested).toEqual(new Set(deletions.map(({ id }) => `${id}/${id}`)));
  expect(requested.size).toBeGreaterThan(0);
  let changed = 0;
  for (const logged of loggedTables) {
    const table = getTableName(logged.table);
    const [before, after] = [atCopy.get(table) ?? new Map(), lost.get(table) ?? new Map()];
    // A session or a request that was begun since is gone.
    const isKept = (key: string) => logged.operations.includes('INSERT') || before.has(key);
    const wanted = new Map([...after].filter(([key]) => isKept(key)));
    const found = [...((await readRows(restored)).get(table) ?? [])];
    expect(new Map(found.filter(([key]) => !requested.has(key))), table).toEqual(wanted);
    if (JSON.stringify([...before]) !== JSON.stringify([...after])) changed += 1;
  }
  expect(changed).toBeGreaterThan(12);
  // Numbers are not given a second time, and the triggers are back.
  await restored`INSERT INTO spaces (name) VALUES ('later')`;
  const [{ number } = { number: 0 }] = await restored<{ number: number }[]>`
    SELECT max(number)::float8 AS number FROM control_changes`;
  expect(number).toBeGreaterThan(highest + 100_000);
  const again = await applyControlChanges(database, nats, { start });
  expect(again.changes).toBe(applied.changes);
});

/** The rows of each logged table by key, as JSON, without the columns whose changes are not logged. */
async function readRows(sql: Sql): Promise<Map<string, Map<string, string>>> {
  const all = new Map<string, Map<string, string>>();
  for (const { table, ignored } of loggedTables) {
    const key = keyOf(table).map((column) => `kept.${column.name}`);
    const without = ignored.map((column) => column.name);
    const rows = await sql.unsafe<{ key: string; row: string }[]>(
      `SELECT concat_ws('/', ${key.join()}) AS key, (to_jsonb(kept) - '{${without.join()}}'::text[])::text AS row
       FROM ${getTableName(table)} AS kept`,
    );
    all.set(getTableName(table), new Map(rows.map((one) => [one.key, one.row])));
  }
  return all;
}

const random = createRandom(24);

/**
 * Inserts, changes or deletes a random row of a random table. A change that violates a constraint is not
 * made.
 */
async function changeSomething(sql: Sql): Promise<void> {
  const logged = pick(loggedTables);
  try {
    await pick([insertRow, insertRow, changeRow, deleteRow])(sql, logged);
  } catch (error) {
    const isViolation = error instanceof postgres.PostgresError && error.code.startsWith('23');
    if (!isViolation) throw error;
  }
}

async function insertRow(sql: Sql, { table }: LoggedTable): Promise<void> {
  const row: Record<string, unknown> = {};
  for (const column of Object.values(getTableColumns(table)))
    row[column.name] = await someValue(sql, table, column);
  const name = getTableName(table);
  await sql.unsafe(
    `INSERT INTO ${name} SELECT * FROM jsonb_populate_record(NULL::${name}, $1::text::jsonb)`,
    [JSON.stringify(row)],
  );
}

async function changeRow(sql: Sql, { table, operations, ignored }: LoggedTable): Promise<void> {
  // Also one of the primary key, which Weir never changes.
  const column = pick(Object.values(getTableColumns(table)));
  if (!operations.includes('UPDATE') || ignored.includes(column)) return;
  const name = getTableName(table);
  await sql.unsafe(
    `UPDATE ${name} AS kept SET ${column.name} = changed.${column.name}
     FROM jsonb_populate_record(NULL::${name}, $1::text::jsonb) AS changed
     WHERE kept.ctid = (SELECT ctid FROM ${name} ORDER BY ctid OFFSET $2::float8 * (SELECT count(*) FROM ${name}) LIMIT 1)`,
    [JSON.stringify({ [column.name]: await someValue(sql, table, column) }), share()],
  );
}

async function deleteRow(sql: Sql, { table, operations }: LoggedTable): Promise<void> {
  // Rows whose deletion is not logged come back.
  if (!operations.includes('DELETE')) return;
  const name = getTableName(table);
  await sql.unsafe(
    `DELETE FROM ${name} WHERE ctid = (SELECT ctid FROM ${name} ORDER BY ctid OFFSET $1::float8 * (SELECT count(*) FROM ${name}) LIMIT 1)`,
    [share()],
  );
}

/**
 * A value as jsonb_populate_record takes it. Texts are of few, so that unique values move from row to row.
 */
async function someValue(sql: Sql, table: PgTable, column: PgColumn): Promise<unknown> {
  const parent = getTableConfig(table).foreignKeys.find((key) => key.reference().columns.includes(column));
  if (parent !== undefined) {
    const rows = await sql.unsafe<{ id: string }[]>(
      `SELECT id FROM ${getTableName(parent.reference().foreignTable)} ORDER BY id`,
    );
    return rows.length === 0 ? null : pick(rows).id;
  }
  if (!column.notNull && random.between(0, 2) === 0) return null;
  if (column.enumValues !== undefined && column.enumValues.length > 0) return pick(column.enumValues);
  const make = makers[column.getSQLType()];
  if (make === undefined) throw new Error(`no values for ${column.getSQLType()}`);
  return make();
}

const makers: Record<string, () => unknown> = {
  uuid: random.uuid,
  text: () => `text ${random.between(1, 12)} "\\ \u{1F600}`,
  bytea: () => `\\x${random.uuid().replaceAll('-', '')}`,
  'timestamp with time zone': () =>
    `20${random.between(10, 99)}-11-23T06:07:08.12345${random.between(1, 9)}Z`,
  date: () => `2026-11-${random.between(10, 28)}`,
  bigint: () => String(BigInt(random.between(0, 2 ** 31)) * 2n ** 31n + 1n),
  integer: () => random.between(1, 1_000),
  'double precision': () => random.between(1, 2 ** 31) / 7,
  numeric: () => `12345678901234567890.${random.between(1, 999)}0`,
  jsonb: () => ({ a: [1, 'two', null, { b: 1e-7 }] }),
  'uuid[]': () => [random.uuid(), random.uuid()],
  'text[]': () => ['pg_statistic'],
};

/** At least 0, below 1. */
const share = () => random.between(0, 999) / 1_000;

function pick<T>(list: readonly T[]): T {
  const one = list[random.between(0, list.length - 1)];
  if (one === undefined) throw new Error('the list is empty');
  return one;
}

test('what had expired before a restore expires in the first pass after it', async () => {
  await using source = await createDatabase();
  await using sql = open(source.url);
  const nowMs = Date.now();
  await new RetentionClock().advance(openDatabase(sql), nowMs - 5 * dayMs);
  await relayControlChanges(openDatabase(sql), nats);
  const backup = await readControlState(nats);
  await sql.end();
  await using copy = await createDatabase({ template: new URL(source.url).pathname.slice(1) });
  await using lost = open(source.url);
  // Each pass is that of another process, as after a restart.
  for (let atMs = nowMs - 5 * dayMs; atMs <= nowMs; atMs += 5 * hourMs)
    await new RetentionClock().advance(openDatabase(lost), atMs);
  await relayControlChanges(openDatabase(lost), nats);

  await using restored = open(copy.url);
  const database = openDatabase(restored);
  await applyControlChanges(database, nats, { start: { afterSequence: backup?.lastSequence ?? 0 } });
  expect(await new RetentionClock().advance(database, nowMs + 60_000)).toBe(nowMs + 60_000);
});

test('all changes are lost, and said to be, when the control stream is missing or is not that of the backup', async () => {
  await using database = await createDatabase();
  await using server = await startNats();
  await using connection = await connectQueue(server.url, 'test');
  await using sql = open(database.url);
  const gapAfter = async (sequence: number) =>
    (await applyControlChanges(openDatabase(sql), connection, { start: { afterSequence: sequence } })).gap;
  expect(await gapAfter(0)).toBe('all');
  await ensureControlStream(connection, { NATS_REPLICAS: 1 });
  expect(await gapAfter(5)).toBe('all');
  expect(await gapAfter(0)).toBeUndefined();
});
