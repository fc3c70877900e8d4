import type { NatsConnection } from '@nats-io/transport-node';
import { getTableName, type SQL, sql } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import { numbersSkipped } from '../../store/control/limits.ts';
import { isOfKey, keyOf, type LoggedTable, loggedTables } from '../../store/control/logged-tables.ts';
import { type ControlStart, readControlState, readControlStream } from '../../store/control/stream.ts';
import { triggerName } from '../../store/control/triggers.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { controlChanges, erasureRequests, users } from '../../store/db/schema.ts';
import { listOf, nameOf, namesOf, replaced } from '../../store/db/statement.ts';
import { vacuumFull } from '../erasure/rewritten-files.ts';
import { requestLostDeletions } from '../erasure-requests/space-deletion.ts';
import { type ErasedAgain, eraseAgain } from './erased-again.ts';

type AppliedRows = Awaited<ReturnType<typeof applyRows>>;

export interface AppliedChanges extends AppliedRows, ErasedAgain {
  /**
   * Lost changes between the start and the first one in the stream, which dropped (`controlBytesMax`) or
   * pruned them; `all` without a stream, or with another one than the backup's. Undefined without a gap.
   */
  readonly gap:
    | { readonly fromSequence: number; readonly throughSequence: number }
    | { readonly until: Date }
    | 'all'
    | undefined;
}

/**
 * Applies the changes of the control stream to a restored database (ADR 32): administrative rows get their
 * last state, and what was erased is erased again. Erased events that the queue still has are then in the
 * ledger, and counted. Call it after `weir migrate`, **before** a writer or a dashboard API starts; ingest
 * may run. Can be repeated, with an earlier start than the state of the database: later changes win.
 * @param database as the owner of the tables, of one connection without a statement time-out.
 * @param start `afterSequence`: of the backup. `time`: some minutes before that to which Postgres was
 * restored.
 * @returns what was applied, and what could not be.
 * @throws a driver's error, or that of nats-server. Nothing may be served then; call it again.
 */
export async function applyControlChanges(
  database: Database,
  connection: NatsConnection,
  { start, report = () => {} }: { start: ControlStart; report?: (text: string) => void },
): Promise<AppliedChanges> {
  const gap = await findGap(connection, start);
  const rows = await applyRows(database, connection, start);
  report(`${rows.changes.toLocaleString('en')} changes applied`);
  const erased = await eraseAgain(database, connection, { start, report });
  // A request that is deleted again named its user.
  if (rows.tables.includes(getTableName(erasureRequests)))
    await vacuumFull(database, getTableName(erasureRequests));
  await requestLostDeletions(database);
  return { ...rows, ...erased, gap };
}

async function findGap(connection: NatsConnection, start: ControlStart): Promise<AppliedChanges['gap']> {
  const state = await readControlState(connection);
  if (state === undefined) return 'all';
  if ('time' in start) {
    const oldestAt = state.firstSequence > 1 ? state.oldestAt : undefined;
    return oldestAt !== undefined && oldestAt > start.time ? { until: oldestAt } : undefined;
  }
  const { firstSequence, lastSequence } = state;
  if (lastSequence < start.afterSequence) return 'all';
  if (firstSequence <= start.afterSequence + 1) return undefined;
  return { fromSequence: start.afterSequence + 1, throughSequence: firstSequence - 1 };
}

/** Gives each row in the stream its last state, in one transaction. The changes are not logged again. */
function applyRows(database: Database, connection: NatsConnection, start: ControlStart) {
  return database.transaction(async (transaction) => {
    const changes = await loadChanges(transaction, connection, start);
    const counted = await transaction.execute<{ name: string }>(
      sql`SELECT DISTINCT relation AS name FROM applied`,
    );
    const names = new Set(counted.map(({ name }) => name));
    const touched = loggedTables.filter(({ table }) => names.has(getTableName(table)));
    await silenceTriggers(transaction, touched, 'DISABLE');
    for (const logged of touched) await keepLastStates(transaction, logged);
    // Tables that reference others first: no row of them references a deleted parent.
    for (const logged of touched.toReversed()) await removeRows(transaction, logged);
    let skipped = 0;
    for (const logged of touched) skipped += await addRows(transaction, logged);
    await silenceTriggers(transaction, touched, 'ENABLE');
    return {
      /** Changes in the stream, without erasures. Most rows have several. */
      changes,
      tables: [...names],
      /** Rows whose parent is missing, such as the key of an unknown space: only after a gap. */
      skipped,
    };
  });
}

/** Loads the changes into the temporary table `applied`, and raises the next number above all of them. */
async function loadChanges(
  transaction: Transaction,
  connection: NatsConnection,
  start: ControlStart,
): Promise<number> {
  await transaction.execute(
    sql`CREATE TEMPORARY TABLE applied (number bigint, at text, relation text, operation text, image jsonb) ON COMMIT DROP`,
  );
  await transaction.execute(
    sql`CREATE TEMPORARY TABLE last_states (relation text, key jsonb, operation text, image jsonb) ON COMMIT DROP`,
  );
  let loaded = 0;
  let last = 0;
  for await (const changes of readControlStream(connection, start)) {
    last = Math.max(last, ...changes.map(({ number }) => number));
    const rows = changes.filter(({ operation }) => operation !== 'erase');
    if (rows.length === 0) continue;
    loaded += rows.length;
    await transaction.execute(sql`
      INSERT INTO applied SELECT number, at, "table", operation, image::jsonb
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS change(number bigint, at text, "table" text, operation text, image text)`);
  }
  if (last > 0)
    await transaction.execute(sql`
      SELECT setval(pg_get_serial_sequence(${getTableName(controlChanges)}, ${controlChanges.number.name}), greatest(${last + numbersSkipped}::bigint,
        nextval(pg_get_serial_sequence(${getTableName(controlChanges)}, ${controlChanges.number.name}))))`);
  return loaded;
}

async function silenceTriggers(
  transaction: Transaction,
  tables: readonly LoggedTable[],
  how: 'DISABLE' | 'ENABLE',
): Promise<void> {
  for (const { table } of tables)
    await transaction.execute(
      sql`ALTER TABLE ${table} ${sql.raw(how)} TRIGGER ${sql.identifier(triggerName)}`,
    );
}

/** Ignored columns stay as they are in the restored row. */
async function keepLastStates(transaction: Transaction, { table, ignored }: LoggedTable): Promise<void> {
  const name = getTableName(table);
  const key = sql`jsonb_build_array(${listOf(keyOf(table).map((column) => sql.raw(`image -> '${column.name}'`)))})`;
  await transaction.execute(sql`
    INSERT INTO last_states
    SELECT DISTINCT ON (${key}) relation, ${key}, operation, image FROM applied WHERE relation = ${name}
    ORDER BY ${key}, number DESC`);
  if (ignored.length === 0) return;
  const current = listOf(
    ignored.map((column) => sql`${column.name}::text, to_jsonb(kept.${nameOf(column)})`),
  );
  await transaction.execute(sql`
    UPDATE last_states SET image = image || jsonb_build_object(${current}) FROM ${table} AS kept WHERE ${isRow(table)}`);
}

function isRow(table: PgTable): SQL {
  const key = listOf(keyOf(table).map((column) => sql`to_jsonb(kept.${nameOf(column)})`));
  return sql`relation = ${getTableName(table)} AND key = jsonb_build_array(${key})`;
}

/** Deleting a referenced row would delete others as well. */
function isReferenced(table: PgTable): boolean {
  return loggedTables.some((other) =>
    getTableConfig(other.table).foreignKeys.some((key) => key.reference().foreignTable === table),
  );
}

/** Removes deleted rows, and those that are added again: unique values may have moved between rows. */
async function removeRows(transaction: Transaction, { table }: LoggedTable): Promise<void> {
  const gone = isReferenced(table) ? sql` AND operation = 'delete'` : sql``;
  await transaction.execute(sql`DELETE FROM ${table} AS kept USING last_states WHERE ${isRow(table)}${gone}`);
  if (table === users)
    await transaction.execute(
      sql`UPDATE ${users} AS kept SET ${nameOf(users.email)} = ${nameOf(users.id)}::text FROM last_states WHERE ${isRow(users)}`,
    );
}

/** @returns how many rows have a parent that is missing. */
async function addRows(transaction: Transaction, { table }: LoggedTable): Promise<number> {
  const { columns, foreignKeys } = getTableConfig(table);
  const name = getTableName(table);
  // A change of an older version lacks later columns, which get their default.
  const shapes = await transaction.execute<{ shape: string }>(
    sql`
    SELECT DISTINCT array_to_string(ARRAY(SELECT jsonb_object_keys(image) ORDER BY 1), ',') AS shape
    FROM last_states WHERE relation = ${name} AND operation = 'upsert'`,
  );
  const hasParents = foreignKeys.map((one) => {
    const { columns: own, foreignTable, foreignColumns } = one.reference();
    const pairs = own.map(
      (column, at) => sql`parent.${nameOf(foreignColumns[at] ?? column)} = added.${nameOf(column)}`,
    );
    const isNull = sql.join(
      own.map((column) => sql`added.${nameOf(column)} IS NULL`),
      sql` OR `,
    );
    return sql` AND (${isNull} OR EXISTS (SELECT FROM ${foreignTable} AS parent WHERE ${sql.join(pairs, sql` AND `)}))`;
  });
  let added = 0;
  for (const { shape } of shapes) {
    const own = columns.filter((column) => shape.split(',').includes(column.name));
    const others = own.filter((column) => !isOfKey(table, column));
    const set = listOf(others.map(replaced));
    const rows = await transaction.execute(sql`
      INSERT INTO ${table} (${namesOf(own)})
      SELECT ${listOf(own.map((column) => sql`added.${nameOf(column)}`))}
      FROM last_states, jsonb_populate_record(NULL::${table}, image) AS added
      WHERE relation = ${name} AND operation = 'upsert'
        AND ARRAY(SELECT jsonb_object_keys(image) ORDER BY 1) = ${`{${shape}}`}::text[]${sql.join(hasParents)}
      ON CONFLICT (${namesOf(keyOf(table))}) ${others.length === 0 ? sql`DO NOTHING` : sql`DO UPDATE SET ${set}`}
      RETURNING 1`);
    added += rows.length;
  }
  const [wanted] = await transaction.execute<{ rows: number }>(sql`
    SELECT count(*)::integer AS rows FROM last_states WHERE relation = ${name} AND operation = 'upsert'`);
  return (wanted?.rows ?? 0) - added;
}
