import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { nameOf } from '../db/statement.ts';

/**
 * Statements of a DO block, the services' only multi-statement transactions (ADR 0014), take no parameters.
 */

/** @param ids UUIDs as Postgres prints them. */
export function uuidArray(ids: readonly string[]): SQL {
  for (const id of ids) if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error('not a UUID of Postgres');
  return sql.raw(`'{${ids.join()}}'::uuid[]`);
}

/** @param atMs since the epoch. */
export function instantOf(atMs: number): SQL {
  return sql.raw(`'${new Date(atMs).toISOString()}'::timestamptz`);
}

export function joinStatements(list: readonly SQL[]): SQL {
  return sql.join(
    list.map((statement) => sql`${statement};`),
    sql`\n  `,
  );
}

export function isAmong(column: PgColumn, ids: readonly string[]): SQL {
  return sql`${nameOf(column)} = ANY (${uuidArray(ids)})`;
}

/** Sets the lock time-out for the rest of the transaction; on Citus, also on the workers. */
export function setLockTimeout(ms: number): SQL {
  return sql`SET LOCAL lock_timeout = '${sql.raw(String(ms))}ms'`;
}

/** Makes Citus' workers use settings by SET LOCAL, not by set_config(). Plain Postgres ignores it. */
export const propagateSettings = sql`SET LOCAL citus.propagate_set_commands = 'local'`;
