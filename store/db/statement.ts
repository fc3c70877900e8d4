import { Placeholder, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, PgDialect } from 'drizzle-orm/pg-core';

/**
 * Fragments of hand-written SQL, built from the columns of schema.ts, so that a renamed column is a compile error
 * wherever it is used.
 */

/** A column's name without its table, for column lists and columns of an alias. */
export function nameOf(column: PgColumn): SQL {
  return sql`${sql.identifier(column.name)}`;
}

export function namesOf(columns: readonly PgColumn[]): SQL {
  return listOf(columns.map(nameOf));
}

export function listOf(items: readonly SQL[]): SQL {
  return sql.join([...items], sql`, `);
}

/** A constant number in the statement's text. */
export function numberOf(value: number): SQL {
  return sql.raw(String(value));
}

/** A parameter that holds an array, as the text of a Postgres array literal. */
export function arrayParameter(parameter: string, elementType: string): SQL {
  return sql`${sql.placeholder(parameter)}::${sql.raw(elementType)}[]`;
}

/**
 * An array of a prepared statement whose length the planner does not see. Postgres plans a prepared statement anew for each execution
 * as long as the plan for its values looks cheaper than the generic one, and with five years of partitions planning takes 25 ms
 * (ADR 0018). With a sub-select both plans look alike.
 */
export function opaqueArray(literal: string, elementType: string): SQL {
  return sql`(SELECT ${literal}::${sql.raw(elementType)}[])`;
}

/** A limit that the planner does not see, for the same reason: it assumes a tenth of the rows, and uses an index on their order. */
export function opaqueLimit(rows: number): Placeholder {
  // Drizzle renders any SQL here. Its type has only numbers, which the planner would see, and placeholders.
  return sql`(SELECT ${rows}::bigint)` as unknown as Placeholder;
}

/** A statement to be prepared: its text, and the names of its parameters in the order of `$1`, `$2`, … */
export interface CompiledStatement {
  readonly text: string;
  readonly parameters: readonly string[];
}

export function compileStatement(statement: SQL): CompiledStatement {
  const { sql: text, params } = new PgDialect().sqlToQuery(statement);
  const parameters = params.map((parameter) => {
    if (!(parameter instanceof Placeholder)) throw new Error('a prepared statement takes no inline values');
    return String(parameter.name);
  });
  return { text, parameters };
}
