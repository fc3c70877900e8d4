import type { NatsConnection } from '@nats-io/transport-node';
import { getTableName, type SQL, sql } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import { numbersSkipped } from '../../store/control/limits.ts';
import { isOfKey, keyOf, type LoggedTable, loggedTables } from '../../store/control/logged-tables.ts';
import { type ControlStart, readControlStream } from '../../store/control/stream.ts';
import { triggerName } from '../../store/control/triggers.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { controlChanges, users } from '../../store/db/schema.ts';
import { listOf, nameOf, namesOf } from '../../store/db/statement.ts';

export interface AppliedRows {
  /** Changes in the stream, without erasures. Most rows have several. */
  readonly changes: number;
  readonly tables: readonly string[];
  /** Rows whose parent is missing, such as the key of an unknown space: only after a gap. */
  readonly skipped: number;
}

/** Gives each row in the stream its last state, in one transaction. The changes are not logged again. */
export function applyRows(
  database: Database,
  connection: NatsConnection,
  start: ControlStart,
): Promise<AppliedRows> {
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
    return { changes, tables: [...names], skipped };
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
    const set = listOf(others.map((column) => sql`${nameOf(column)} = excluded.${nameOf(column)}`));
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
