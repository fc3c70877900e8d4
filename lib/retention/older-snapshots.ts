import { setTimeout as sleep } from 'node:timers/promises';
import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { snapshotPollMs, snapshotWaitMs } from './limits.ts';

/** Statements that began before an erasure still run. */
export class StatementsRunningError extends Error {
  override name = 'StatementsRunningError';
}

/** The id that the next transaction will get. */
export async function readNextTransaction(database: Database): Promise<string> {
  const [now] = await database.execute<{ xid: string }>(
    sql`SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid`,
  );
  return now?.xid ?? '';
}

/**
 * Whether a session, a standby or a prepared transaction may still see rows deleted by transactions below this id. Postgres also keeps
 * these rows for a transaction that is older, but has no snapshot at the moment: one that has written, between two statements.
 */
export async function hasOlderSnapshots(database: Database, xid: string): Promise<boolean> {
  return isTrue(
    database,
    sql`${hasOlderSessions(xid)}
      OR EXISTS (SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${isOlder('backend_xid', xid)})
      OR EXISTS (SELECT FROM pg_replication_slots WHERE ${isOlder('xmin', xid)} OR ${isOlder('catalog_xmin', xid)})
      OR EXISTS (SELECT FROM pg_stat_replication WHERE ${isOlder('backend_xmin', xid)})`,
  );
}

/**
 * Waits until the statements that run now have ended. A statement that begins later sees what was committed before the call.
 *
 * @throws StatementsRunningError when one runs for longer than `snapshotWaitMs`.
 */
export async function untilStatementsEnded(database: Database): Promise<void> {
  const xid = await readNextTransaction(database);
  const deadlineMs = performance.now() + snapshotWaitMs;
  while (await isTrue(database, hasOlderSessions(xid))) {
    if (performance.now() > deadlineMs)
      throw new StatementsRunningError('a statement that began before the deletion is still running');
    await sleep(snapshotPollMs);
  }
}

function hasOlderSessions(xid: string): SQL {
  return sql`(EXISTS (SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${isOlder('backend_xmin', xid)})
      OR EXISTS (SELECT FROM pg_prepared_xacts WHERE ${isOlder('transaction', xid)}))`;
}

function isOlder(xmin: string, xid: string): SQL {
  return sql`age(${sql.raw(xmin)}) > age(${xid}::xid8::xid)`;
}

async function isTrue(database: Database, condition: SQL): Promise<boolean> {
  const [row] = await database.execute<{ is: boolean }>(sql`SELECT ${condition} AS is`);
  return row?.is === true;
}
