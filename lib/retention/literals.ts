import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { nameOf } from '../db/statement.ts';

/**
 * Values in the text of a statement. The statements of a DO block take no parameters, and a DO block is the only transaction of
 * a service (ADR 0014).
 */

/** @param ids UUIDs as Postgres prints them. */
export function uuidArray(ids: readonly string[]): SQL {
  for (const id of ids) if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error('not a UUID of Postgres');
  return sql.raw(`'{${ids.join()}}'::uuid[]`);
}

/** @param atMs milliseconds since the epoch. */
export function instantOf(atMs: number): SQL {
  return sql.raw(`'${new Date(atMs).toISOString()}'::timestamptz`);
}

/** Statements of plpgsql, one after the other. */
export function joinStatements(list: readonly SQL[]): SQL {
  return sql.join(
    list.map((statement) => sql`${statement};`),
    sql`\n  `,
  );
}

export function isAmong(column: PgColumn, ids: readonly string[]): SQL {
  return sql`${nameOf(column)} = ANY (${uuidArray(ids)})`;
}

/** Sets how long the rest of the transaction waits for each lock; on Citus, its workers too. */
export function setLockTimeout(ms: number): SQL {
  return sql`SET LOCAL lock_timeout = '${sql.raw(String(ms))}ms'`;
}

/**
 * On Citus, the settings of a transaction apply on the workers too: those that SET LOCAL makes, and none of set_config().
 * Elsewhere nobody reads this one.
 */
export const propagateSettings = sql`SET LOCAL citus.propagate_set_commands = 'local'`;
