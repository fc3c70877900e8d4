import postgres from 'postgres';

/**
 * SQLSTATE classes that speak about the data itself: data exception, integrity constraint violation, program limit
 * exceeded, and an exception raised by a trigger. The same data will be refused again.
 *
 * Everything else (connection, resources, deadlock, read-only, an operator's hand, the driver) is a matter of time.
 */
const refusalClasses = new Set(['22', '23', '54', 'P0']);

export interface Refusal {
  sqlstate: string;
  message: string;
}

/** What Postgres said when it refused the data for good; undefined when the failure is transient. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof postgres.PostgresError) || !refusalClasses.has(error.code.slice(0, 2)))
    return undefined;
  return { sqlstate: error.code, message: error.message };
}
