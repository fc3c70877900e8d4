import { getTableName } from 'drizzle-orm';
import postgres from 'postgres';
import { eventIds } from '../db/schema.ts';

/**
 * SQLSTATE classes about the data itself: data exception, integrity constraint violation, program limit
 * exceeded, and an exception raised by a trigger. Postgres would reject the same data again.
 *
 * All other classes (connection, resources, deadlock, read-only, schema, cancellation) and errors of the
 * driver are transient: the same data can be stored later.
 */
const permanentClasses = new Set(['22', '23', '54', 'P0']);

export interface PermanentError {
  sqlstate: string;
  message: string;
}

/**
 * Whether a row was rejected only because its partition was attached while the statement waited for the
 * default partition, to which the row was routed. Nothing was stored, and a retry finds the partition. A
 * violated CHECK constraint has a name, which tells the two apart.
 */
export function isMovedPartition(error: unknown): boolean {
  return (
    error instanceof postgres.PostgresError && error.code === '23514' && error.constraint_name === undefined
  );
}

/** Whether a statement for new events only met an id that the ledger has. Nothing was stored. */
export function isKnownId(error: unknown): boolean {
  return (
    error instanceof postgres.PostgresError &&
    error.code === '23505' &&
    error.table_name === getTableName(eventIds)
  );
}

/** The error of Postgres when it rejected the data permanently; undefined when the failure is transient. */
export function permanentErrorOf(error: unknown): PermanentError | undefined {
  if (!(error instanceof postgres.PostgresError) || !permanentClasses.has(error.code.slice(0, 2)))
    return undefined;
  return { sqlstate: error.code, message: error.message };
}
