import postgres from 'postgres';
import type { Sql } from './connect.ts';

/** read_only_sql_transaction */
const readOnly = '25006';

/**
 * After a statement failed because its session is read-only: ends the read-only sessions of the pool, so that new ones
 * replace them. A session keeps the `default_transaction_read_only` that it started with, and a session of a server that
 * was demoted stays there. Does nothing about other errors.
 *
 * Each session checks itself, because a pool does not say which of its sessions a query runs on; a session that can be
 * written to is left alone. One check per connection: the pool gives each idle connection one query.
 */
export async function leaveReadOnlySession(sql: Sql, error: unknown): Promise<void> {
  if (!(error instanceof postgres.PostgresError) || error.code !== readOnly) return;
  const checks = Array.from({ length: sql.options.max }, async () => {
    // It fails when it ends its own session.
    await sql`SELECT pg_terminate_backend(pg_backend_pid()) WHERE current_setting('transaction_read_only')::bool`.catch(
      () => {},
    );
  });
  await Promise.all(checks);
}
