import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { expectSameTime, readServerClock } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import { dropExpiredPartitions } from './expired-partitions.ts';
import { deleteExpiredEntries } from './expired-quarantine.ts';
import { deleteExpiredSegments, type SegmentPlace } from './expired-segments.ts';
import { deletedEntriesMax } from './limits.ts';
import { vacuumIfDead } from './partition-fill.ts';
import { rewriteSparsePartitions } from './partition-rewrite.ts';
import { type ExpiryRule, listSpaceExpiries } from './policy.ts';
import type { RetentionClock } from './retention-clock.ts';
import { listWeekPartitions } from './week-partitions.ts';

export interface ExpireOptions {
  /** RETENTION_DAYS_MAX. */
  retentionDaysMax: number | undefined;
  /** This process's clock, which is compared with that of Postgres. */
  nowMs: number;
  /** One for all passes of a process. */
  clock: RetentionClock;
  /** Aborting it ends the pass after the statement under way. */
  signal?: AbortSignal;
}

/** What a pass has deleted. */
export interface ExpireResult {
  /** Partitions that were dropped. */
  dropped: string[];
  /** Partitions that could be dropped but are in use. */
  locked: string[];
  /** Events that were deleted one batch after another. */
  events: number;
  quarantined: number;
  /** Weeks whose partitions were rewritten. */
  rewritten: number;
  /** How far the clock by which events expire is behind that of the machine. */
  lagMs: number;
}

/**
 * The advisory lock of a session that drops or rewrites partitions. An arbitrary number, unlikely to be one of another
 * application.
 */
export const expireLock = 7_394_212;

/**
 * Deletes what has expired (docs/retention.md): whole partitions, what other partitions hold of spaces with a shorter retention,
 * and entries of the quarantine. The ledger, usage and statistics stay. It can be killed at any time: the next pass goes on.
 *
 * @param database of one connection: the advisory lock belongs to it.
 * @returns undefined when another process does it.
 * @throws ClocksDifferError; an error of the driver when Postgres fails.
 */
export async function expireData(
  database: Database,
  options: ExpireOptions,
): Promise<ExpireResult | undefined> {
  const [lock] = await database.execute<{ isOurs: boolean }>(
    sql`SELECT pg_try_advisory_lock(${expireLock}) AS "isOurs"`,
  );
  if (lock?.isOurs !== true) return undefined;
  try {
    return await expireAll(database, options);
  } finally {
    await database.execute(sql`SELECT pg_advisory_unlock(${expireLock})`);
  }
}

async function expireAll(database: Database, options: ExpireOptions): Promise<ExpireResult> {
  const machineMs = await agreedTimeMs(database, options.nowMs);
  const nowMs = await options.clock.advance(database, machineMs);
  const lagMs = machineMs - nowMs;
  const rule: ExpiryRule = { nowMs, retentionDaysMax: options.retentionDaysMax };
  const spaces = await listSpaceExpiries(database, rule);
  const expiring = spaces.filter(({ cutoffMs }) => cutoffMs > -Infinity).map(({ spaceId }) => spaceId);
  if (expiring.length === 0)
    return { dropped: [], locked: [], events: 0, quarantined: 0, rewritten: 0, lagMs };
  // First, since what is dropped needs not be deleted.
  const { dropped, locked } = await dropExpiredPartitions(database, rule);
  const result = { dropped, locked, events: 0, quarantined: 0, rewritten: 0, lagMs };
  for (const place of ['weeks', 'default'] as const) {
    result.events += await deleteInTurns(database, expiring, { rule, place, signal: options.signal });
  }
  for (const spaceId of expiring) {
    for (let deleted = deletedEntriesMax; deleted === deletedEntriesMax; result.quarantined += deleted) {
      options.signal?.throwIfAborted();
      deleted = await deleteExpiredEntries(database, spaceId, rule);
    }
  }
  result.rewritten = await reclaimSpace(database, nowMs, options.signal);
  return result;
}

/** The earlier of both clocks, so that nothing is deleted too soon. */
async function agreedTimeMs(database: Database, nowMs: number): Promise<number> {
  const serverMs = await readServerClock(database);
  expectSameTime(serverMs, nowMs);
  return Math.min(serverMs, nowMs);
}

/** One batch of each space after the other: a space with much to delete delays no other. @returns how many events. */
async function deleteInTurns(
  database: Database,
  spaceIds: readonly string[],
  { rule, place, signal }: { rule: ExpiryRule; place: SegmentPlace; signal: AbortSignal | undefined },
): Promise<number> {
  let deleted = 0;
  let turn: { spaceId: string; after: string | undefined }[] = spaceIds.map((spaceId) => ({
    spaceId,
    after: undefined,
  }));
  while (turn.length > 0) {
    const next: typeof turn = [];
    for (const { spaceId, after } of turn) {
      signal?.throwIfAborted();
      const startedMs = performance.now();
      const batch = await deleteExpiredSegments(database, spaceId, { rule, place, after });
      if (batch.last === undefined) continue;
      deleted += batch.events;
      next.push({ spaceId, after: batch.last });
      // Pauses as long as the batch took, so that deleting uses at most half of the capacity.
      await sleep(performance.now() - startedMs, undefined, { signal });
    }
    turn = next;
  }
  return deleted;
}

/** Gives back the disk that deleted rows took up, in weeks that are over. @returns how many weeks were rewritten. */
async function reclaimSpace(
  database: Database,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  let rewritten = 0;
  for (const week of await listWeekPartitions(database)) {
    if (week.range.toMs > nowMs) continue;
    signal?.throwIfAborted();
    for (const name of [week.events, week.segments])
      if (name !== undefined) await vacuumIfDead(database, name);
    if (await rewriteSparsePartitions(database, week)) rewritten += 1;
  }
  return rewritten;
}
