import postgres from 'postgres';
import type { Sql } from './connect.ts';

/** read_only_sql_transaction */
const readOnly = '25006';

/**
 * After a statement failed because its session is read-only: ends the read-only sessions of the pool, so that
 * new ones replace them. A session keeps the `default_transaction_read_only` that it started with, and stays
 * connected to a server that was demoted. Ignores other errors.
 *
 * Each session checks itself, because a pool does not expose which of its sessions runs a query; writable
 * sessions are kept. There is one check per connection: the pool gives each idle connection one query.
 */
export async function leaveReadOnlySession(sql: Sql, error: unknown): Promise<void> {
  if (!(error instanceof postgres.PostgresError) || error.code !== readOnly) return;
  const checks = Array.from({ length: sql.options.max }, async () => {
    // The query fails when it ends its own session.
    await sql`SELECT pg_terminate_backend(pg_backend_pid()) WHERE current_setting('transaction_read_only')::bool`.catch(
      () => {},
    );
  });
  await Promise.all(checks);
}
