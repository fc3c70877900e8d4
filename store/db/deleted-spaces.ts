import { getTableColumns, is, SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { deletedSpaces } from './schema.ts';
import { listOf, nameOf, namesOf } from './statement.ts';

/**
 * The condition that the deletion of a space has not begun. Every statement that stores rows for a space,
 * other than for a call of one of its members has it: events may be in the queue for days, and must not come
 * back after the deletion (ADR 30).
 *
 * It must be part of the statement that inserts. The deletion waits until the statements that began before it
 * have ended.
 *
 * IS FALSE keeps Postgres from planning an anti join, of which it would expect a single row, and then join
 * thousands of rows by nested loops.
 */
export function isNotDeleted(spaceId: SQLWrapper): SQL {
  return sql`EXISTS (SELECT FROM ${deletedSpaces} WHERE ${deletedSpaces.spaceId} = ${spaceId}) IS FALSE`;
}

/**
 * Rows as a query for `insert(table).select(…)`, in their order, without those of deleted spaces. Every row
 * names every column.
 */
export function rowsOfKeptSpaces<Table extends PgTable & { spaceId: PgColumn }>(
  table: Table,
  rows: readonly Required<{ [Name in keyof Table['$inferInsert']]: Table['$inferInsert'][Name] | SQL }>[],
): SQL {
  const columns = Object.entries(getTableColumns(table));
  const values = rows.map((row: Record<string, unknown>) => {
    const typed = columns.map(([name, column]) => {
      const value = row[name] ?? null;
      const parameter = value === null || is(value, SQL) ? sql`${value}` : sql`${sql.param(value, column)}`;
      return sql`${parameter}::${sql.raw(column.getSQLType())}`;
    });
    return sql`(${listOf(typed)})`;
  });
  const names = namesOf(columns.map(([, column]) => column));
  return sql`SELECT * FROM (VALUES ${listOf(values)}) AS given (${names}) WHERE ${isNotDeleted(sql`given.${nameOf(table.spaceId)}`)}`;
}
