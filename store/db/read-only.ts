import postgres from 'postgres';
import type { Sql } from './connect.ts';

/** read_only_sql_transaction */
const readOnly = '25006';

/**
 * After a statement failed because its session is read-only: ends the pool's read-only sessions, which stay
 * connected to a demoted server. Ignores other errors. Each session checks itself, since a pool does not say
 * which one runs a query: one check per connection.
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
