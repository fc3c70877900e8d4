import { getTableColumns, Placeholder, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import type { Sql } from './connect.ts';

/**
 * Hand-written SQL from the columns of schema.ts: a renamed column is a compile error wherever it is used.
 */

/** A column's name without its table, for column lists and columns of an alias. */
export function nameOf(column: PgColumn): SQL {
  return sql`${sql.identifier(column.name)}`;
}

export function namesOf(columns: readonly PgColumn[]): SQL {
  return listOf(columns.map(nameOf));
}

/** The values of `excluded` for several columns, for `onConflictDoUpdate`. */
export function excludedOf<Name extends string>(columns: Record<Name, PgColumn>): Record<Name, SQL> {
  const values = Object.entries<PgColumn>(columns).map(([name, column]) => [name, excluded(column)]);
  // `Object.fromEntries` forgets the names.
  return Object.fromEntries(values) as Record<Name, SQL>;
}

/** `column = excluded.column`: takes the value of the row that could not be inserted. */
export function replaced(column: PgColumn): SQL {
  return sql`${nameOf(column)} = ${excluded(column)}`;
}

/** The column of a row that could not be inserted. */
export function excluded(column: PgColumn): SQL {
  return sql`excluded.${nameOf(column)}`;
}

export function listOf(items: readonly SQL[]): SQL {
  return sql.join([...items], sql`, `);
}

/**
 * Inserts a row, and none when `counted` rows are `max` or more: one statement, so that no other comes in
 * between. Concurrent ones do not see each other's row: where the limit must be exact, they take turns.
 */
export function insertBelow<Table extends PgTable>(
  table: Table,
  values: Table['$inferInsert'],
  { counted, max }: { counted: SQL; max: number },
): SQL {
  const given = Object.entries(getTableColumns(table)).flatMap(([key, column]) => {
    const value: unknown = Reflect.get(values, key);
    return value === undefined ? [] : [{ column, value }];
  });
  const selected = given.map(
    ({ column, value }) => sql`${sql.param(value, column)}::${sql.raw(column.getSQLType())}`,
  );
  return sql`INSERT INTO ${table} (${namesOf(given.map(({ column }) => column))})
    SELECT ${listOf(selected)} WHERE (${counted}) < ${max}::bigint`;
}

/** A constant in the statement's text. */
export function numberOf(value: number): SQL {
  return sql.raw(String(value));
}

/** The text of a Postgres array literal. */
export function arrayParameter(parameter: string, elementType: string): SQL {
  return sql`${sql.placeholder(parameter)}::${sql.raw(elementType)}[]`;
}

/**
 * Hides the array's length from the planner. While the plan for its values looks cheaper than the generic
 * one, Postgres plans a prepared statement anew each time: 25 ms with five years of partitions (ADR 0018).
 * With a sub-select both look alike.
 */
export function opaqueArray(literal: string, elementType: string): SQL {
  return sql`(SELECT ${literal}::${sql.raw(elementType)}[])`;
}

/** The planner would assume a tenth of the rows for a visible limit, and use an index on their order. */
export function opaqueLimit(rows: number): Placeholder {
  // Drizzle renders any SQL here, but types only numbers, which the planner would see, and placeholders.
  return sql`(SELECT ${rows}::bigint)` as unknown as Placeholder;
}

/** The text, and the names of the parameters in the order of `$1`, `$2`, … */
export interface CompiledStatement {
  readonly text: string;
  readonly parameters: readonly string[];
}

/** Runs a prepared statement. @param values by the names of its parameters. */
export function runCompiled<Row extends Record<string, unknown>>(
  client: Pick<Sql, 'unsafe'>,
  { text, parameters }: CompiledStatement,
  values: Readonly<Record<string, string>>,
) {
  const inOrder = parameters.map((name) => values[name] ?? '');
  return client.unsafe<Row[]>(text, inOrder, { prepare: true });
}

export function compileStatement(statement: SQL): CompiledStatement {
  const { sql: text, params } = new PgDialect().sqlToQuery(statement);
  const parameters = params.map((parameter) => {
    if (!(parameter instanceof Placeholder)) throw new Error('a prepared statement takes no inline values');
    return String(parameter.name);
  });
  return { text, parameters };
}
