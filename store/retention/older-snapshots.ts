import { setTimeout as sleep } from 'node:timers/promises';
import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { copyPauseMs, copyTries, snapshotPollMs, snapshotWaitMs } from './limits.ts';

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
 * What keeps rows deleted below a transaction id, so that VACUUM FULL and CLUSTER would copy them: a `writer`
 * with an older id, in any database of the server; a `reader` with an older snapshot in this one, or of a
 * standby.
 */
export type Holder = 'writer' | 'reader' | 'nothing';

export interface CopiedTable {
  /** A logical replication slot, as of a shard that moves, keeps only rows of the catalog. */
  readonly isCatalog: boolean;
}

/**
 * The query of the {@link Holder}. Every snapshot, also of the command that copies, is as old as the oldest
 * transaction that writes in **any** database, also a prepared or idle one.
 */
export function selectHolder(xid: string, { isCatalog }: CopiedTable): SQL {
  const older = (xmin: string) => isOlder(xmin, xid);
  return sql`SELECT CASE
    WHEN pg_snapshot_xmin(pg_current_snapshot()) < ${sql.raw(`'${BigInt(xid)}'`)}::xid8 THEN 'writer'
    WHEN ${hasOlderSessions(xid)}
      OR EXISTS (SELECT FROM pg_replication_slots WHERE ${older('xmin')} OR (${sql.raw(String(isCatalog))} AND ${older('catalog_xmin')}))
      OR EXISTS (SELECT FROM pg_stat_replication WHERE ${older('backend_xmin')}) THEN 'reader'
    ELSE 'nothing' END AS holder`;
}

/** Finds what still keeps rows that transactions below this id deleted. */
export async function findHolder(database: Database, xid: string, table: CopiedTable): Promise<Holder> {
  const [row] = await database.execute<{ holder: Holder }>(selectHolder(xid, table));
  return row?.holder ?? 'reader';
}

/** The wait for transactions that write: of another database, they may take long. */
export interface WritersWait {
  /** By `performance.now()`. */
  readonly untilMs: number;
  readonly report: () => void;
}

export const noWait: WritersWait = { untilMs: 0, report: () => {} };

/**
 * Copies a table when nothing keeps its deleted rows any more, in a bounded number of tries.
 * @param find called before each try. @param attempt @returns false when the table is locked by others.
 * @returns whether it was copied.
 */
export async function copyWhenUnseen(
  find: () => Promise<Holder>,
  attempt: () => Promise<boolean>,
  wait: WritersWait,
): Promise<boolean> {
  for (let tries = 0; tries < copyTries; await sleep(copyPauseMs)) {
    const holder = await find();
    if (holder === 'nothing' && (await attempt())) return true;
    if (holder === 'writer' && performance.now() < wait.untilMs) wait.report();
    else tries += 1;
  }
  return false;
}

/**
 * Waits for the statements that run now. Later ones see what was committed before the call.
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

/** With a literal, since a node of a cluster is sent a text. */
function isOlder(xmin: string, xid: string): SQL {
  return sql.raw(`age(${xmin}) > age('${BigInt(xid)}'::xid8::xid)`);
}

async function isTrue(database: Database, condition: SQL): Promise<boolean> {
  const [row] = await database.execute<{ is: boolean }>(sql`SELECT ${condition} AS is`);
  return row?.is === true;
}
