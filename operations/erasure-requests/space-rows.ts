import { and, eq, getTableName, is, ne, or, type SQL, sql } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { inBoundedTransaction } from '../../store/db/bounded-transaction.ts';
import type { Database } from '../../store/db/database.ts';
import * as schema from '../../store/db/schema.ts';
import { listOf } from '../../store/db/statement.ts';
import { untilStatementsEnded } from '../../store/retention/older-snapshots.ts';
import { statisticsTable } from '../erasure/cluster/cluster-files.ts';
import { countErased, type Erasure } from '../erasure/erasure-row.ts';
import { rowsPerBatch } from './limits.ts';

type SpaceTable = ReturnType<typeof toSpaceTable>[number];

/**
 * What stays of a deleted space (ADR 30): the fact, receipts of erasures, and usage by month, for bills.
 * `erasure_requests` has the running request; `events` and `segments` are erased before.
 */
const keptTables: readonly PgTable[] = [
  ...[schema.deletedSpaces, schema.erasures, schema.usageMonths, schema.erasureRequests],
  ...[schema.events, schema.segments],
];

/**
 * Writers' statements derive rows of other tables from these, in this order: of traces, changes of events
 * with their numbers and statistics; of deltas, statistics; of numbers, delays.
 */
const sources: readonly PgTable[] = [schema.traces, schema.statisticDeltas, schema.commitCounters];

const spaceTables: readonly SpaceTable[] = Object.values(schema)
  .filter((one) => is(one, PgTable))
  .filter((table) => !keptTables.includes(table))
  .flatMap(toSpaceTable);

/**
 * Lost rows before: `spaces` and its referencing tables, and one whose rows writers delete every two seconds.
 */
const tablesOfSpaces: readonly string[] = Object.values(schema)
  .filter((one) => is(one, PgTable))
  .filter(
    (table) =>
      table === schema.spaces ||
      table === schema.statisticDeltas ||
      getTableConfig(table).foreignKeys.some((key) => key.reference().foreignTable === schema.spaces),
  )
  .map(getTableName);

/** Tables whose primary key begins with the space. The others have foreign keys to `spaces`. */
function toSpaceTable(table: PgTable) {
  const { columns, primaryKeys } = getTableConfig(table);
  const names = primaryKeys[0]?.columns.map(({ name }) => name) ?? [];
  const [spaceId, ...key] = names.flatMap((name) => columns.filter((column) => column.name === name));
  return spaceId?.name === schema.events.spaceId.name ? [{ table, spaceId, key }] : [];
}

/**
 * Deletes what is left of a space besides its events, in batches of one transaction each. Can be killed and
 * called again. Ends, because nothing is stored for the space any more.
 */
export async function deleteSpaceRows(
  database: Database,
  erasure: Erasure,
  report: (text: string) => void,
): Promise<void> {
  await inBoundedTransaction(database, (transaction) =>
    countErased(transaction, erasure, { unwritten: tablesOfSpaces }),
  );
  const derived = spaceTables.filter(({ table }) => !sources.includes(table));
  for (const tables of [
    ...sources.map((source) => spaceTables.filter(({ table }) => table === source)),
    derived,
  ]) {
    for (const one of tables) {
      const rows = await deleteRows(database, erasure, one);
      if (rows > 0) report(`${rows.toLocaleString('en')} rows of ${getTableName(one.table)} deleted`);
    }
    // From then on nothing is derived from the sources.
    await untilStatementsEnded(database);
  }
  const { spaceId, id } = schema.erasureRequests;
  await database
    .delete(schema.erasureRequests)
    .where(and(eq(spaceId, erasure.spaceId), ne(id, erasure.request?.id ?? erasure.spaceId)));
}

/** Deletes ranges of the key, in order: a query for any rows would pass over deleted ones again and again. */
async function deleteRows(database: Database, erasure: Erasure, one: SpaceTable): Promise<number> {
  const { table, spaceId, key } = one;
  const isOfSpace = and(eq(spaceId, erasure.spaceId), isDeleted(table));
  const order = listOf(key.map((column) => sql`${column}`));
  let deleted = 0;
  for (let after: SQL | undefined; ; ) {
    const isAfter: SQL | undefined = after && sql`(${order}) > (${after})`;
    const last: SQL | undefined =
      key.length === 0 ? undefined : await readBound(database, one, and(isOfSpace, isAfter));
    const isUpTo = last && sql`(${order}) <= (${last})`;
    deleted += await inBoundedTransaction(database, async (transaction) => {
      const { count } = await transaction.delete(table).where(and(isOfSpace, isAfter, isUpTo));
      if (count > 0)
        await countErased(transaction, erasure, {
          ...(table === schema.notes && { notes: count }),
          ...(table === schema.media && { media: count }),
          unwritten: [getTableName(table), statisticsTable],
        });
      return count;
    });
    if (last === undefined) return deleted;
    after = last;
  }
}

/** @returns the key of a batch's last row; undefined when fewer rows are left. */
async function readBound(
  database: Database,
  { table, key }: SpaceTable,
  isLeft: SQL | undefined,
): Promise<SQL | undefined> {
  const texts = listOf(key.map((column) => sql`${column}::text AS ${sql.identifier(column.name)}`));
  const order = listOf(key.map((column) => sql`${column}`));
  const [row] = await database.execute<Record<string, string>>(sql`
    SELECT ${texts} FROM ${table} WHERE ${isLeft} ORDER BY ${order} OFFSET ${rowsPerBatch - 1} LIMIT 1`);
  return row && listOf(key.map((column) => sql`${row[column.name]}::${sql.raw(column.getSQLType())}`));
}

/** The audit log keeps who deleted the space. */
function isDeleted(table: PgTable): SQL | undefined {
  if (table !== schema.auditLog) return undefined;
  const { action, details } = schema.auditLog;
  return sql`NOT ${or(sql`${action} IN ('space.delete', 'space.restore')`, sql`coalesce(${details} ->> 'subject' = 'space', false)`)}`;
}
