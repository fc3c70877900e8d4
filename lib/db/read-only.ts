import postgres from 'postgres';
import type { Sql } from './connect.ts';

/** read_only_sql_transaction */
const readOnly = '25006';

/**
 * Gives up a session that Postgres lets nothing be written in. A session keeps the `default_transaction_read_only` that
 * it began with, and one with a server that was demoted stays with it: only a new session can write again. Does nothing
 * about other errors.
 */
export async function leaveReadOnlySession(sql: Sql, error: unknown): Promise<void> {
  if (!(error instanceof postgres.PostgresError) || error.code !== readOnly) return;
  // It fails, as the connection ends with it.
  await sql`SELECT pg_terminate_backend(pg_backend_pid())`.catch(() => {});
}
