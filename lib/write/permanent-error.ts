import postgres from 'postgres';

/**
 * SQLSTATE classes about the data itself: data exception, integrity constraint violation, program limit exceeded, and an
 * exception raised by a trigger. Postgres would refuse the same data again.
 *
 * All other classes (connection, resources, deadlock, read-only, schema, cancellation) and errors of the driver are
 * transient: the same data can be stored later.
 */
const permanentClasses = new Set(['22', '23', '54', 'P0']);

export interface PermanentError {
  sqlstate: string;
  message: string;
}

/** What Postgres said when it refused the data for good; undefined when the failure is transient. */
export function permanentErrorOf(error: unknown): PermanentError | undefined {
  if (!(error instanceof postgres.PostgresError) || !permanentClasses.has(error.code.slice(0, 2)))
    return undefined;
  return { sqlstate: error.code, message: error.message };
}
