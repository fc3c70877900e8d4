import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq, lt, sql } from 'drizzle-orm';
import { tryAdvisoryLock } from '../db/advisory-lock.ts';
import { expectSameTime, readServerClock } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import { media, mediaUses, quarantine, queuePositions, traceNodes } from '../db/schema.ts';
import { deleteExpiredMedia } from '../media/expired-media.ts';
import { deleteExpiredNotes, listNotedSpaces } from '../notes/expired-notes.ts';
import { deleteExpired } from './delete-expired.ts';
import { deleteExpiredNodes, deleteTracesWithoutCalls } from './expired-nodes.ts';
import { dropExpiredPartitions } from './expired-partitions.ts';
import {
  deleteExpiredSegments,
  listSpacesWithExpiredSegments,
  type SegmentPlace,
} from './expired-segments.ts';
import { deletedEntriesMax } from './limits.ts';
import { isAmong } from './literals.ts';
import { vacuumIfDead } from './partition-fill.ts';
import { rewriteSparsePartitions } from './partition-rewrite.ts';
import {
  type ExpiryRule,
  latestCutoff,
  listSpaceExpiries,
  listSpacesWithExpired,
  readCutoff,
  type SpaceExpiry,
} from './policy.ts';
import type { RetentionClock } from './retention-clock.ts';
import { listWeekPartitions } from './week-partitions.ts';

export interface ExpireOptions {
  retentionDaysMax: number | undefined;
  /** The clock of this process, in milliseconds since the epoch; compared with that of Postgres. */
  nowMs: number;
  /** One clock for all passes of a process. */
  clock: RetentionClock;
  /** Aborting ends the pass after the current statement. */
  signal?: AbortSignal;
}

export interface ExpireResult {
  dropped: string[];
  /** Partitions that could be dropped but are in use. */
  locked: string[];
  /** Deleted in batches. */
  events: number;
  quarantined: number;
  notes: number;
  media: number;
  /** Weeks whose partitions were rewritten. */
  rewritten: number;
  /** How far the retention clock is behind the machine clock. */
  lagMs: number;
}

/** Session advisory lock held while partitions are dropped or rewritten. The number is arbitrary. */
export const expireLock = 7_394_212;

/**
 * Deletes expired data (docs/data-lifecycle.md#retention): whole partitions, rows of spaces with a shorter
 * retention, spans of traces, and quarantine entries. Ledger, usage and statistics stay. A killed pass is
 * continued by the next.
 * @param database with one connection, which holds the advisory lock.
 * @returns undefined when another process is running a pass. @throws ClocksDifferError, or a driver error.
 */
export async function expireData(
  database: Database,
  options: ExpireOptions,
): Promise<ExpireResult | undefined> {
  await using lock = await tryAdvisoryLock(database, sql`${expireLock}`);
  return lock && (await expireAll(database, options));
}

async function expireAll(database: Database, options: ExpireOptions): Promise<ExpireResult> {
  const machineMs = await agreedTimeMs(database, options.nowMs);
  const nowMs = await options.clock.advance(database, machineMs);
  const lagMs = machineMs - nowMs;
  const rule: ExpiryRule = { nowMs, retentionDaysMax: options.retentionDaysMax };
  await deleteTracesWithoutCalls(database, nowMs);
  const spaces = await listSpaceExpiries(database, rule);
  const expiring = spaces.filter(({ cutoffMs }) => cutoffMs > -Infinity);
  if (expiring.length === 0)
    return { dropped: [], locked: [], events: 0, quarantined: 0, notes: 0, media: 0, rewritten: 0, lagMs };
  // First, because dropped partitions need no batch deletion.
  const { dropped, locked } = await dropExpiredPartitions(database, {
    rule,
    latestCutoffMs: latestCutoff(expiring),
  });
  const result = { dropped, locked, events: 0, quarantined: 0, notes: 0, media: 0, rewritten: 0, lagMs };
  for (const place of ['weeks', 'default'] as const) {
    const spaceIds = await listSpacesWithExpiredSegments(database, expiring, place);
    result.events += await deleteInTurns(database, spaceIds, { rule, place, signal: options.signal });
  }
  for (const spaceId of await listSpacesWithExpired(database, quarantine, expiring)) {
    for (let deleted = deletedEntriesMax; deleted === deletedEntriesMax; result.quarantined += deleted) {
      options.signal?.throwIfAborted();
      deleted = await deleteExpiredEntries(database, spaceId, rule);
    }
  }
  for (const spaceId of await listSpacesWithExpired(database, traceNodes, expiring)) {
    while ((await deleteExpiredNodes(database, spaceId, rule)) > 0) options.signal?.throwIfAborted();
  }
  const noted = await listNotedSpaces(database);
  const using = new Set(await listSpacesWithExpiredMedia(database, expiring));
  for (const { spaceId } of expiring.filter((one) => noted.has(one.spaceId) || using.has(one.spaceId))) {
    options.signal?.throwIfAborted();
    // Read again: it may have been lengthened meanwhile.
    const cutoffMs = await readCutoff(database, spaceId, rule);
    if (cutoffMs === -Infinity) continue;
    if (noted.has(spaceId)) result.notes += await deleteExpiredNotes(database, spaceId, cutoffMs);
    if (using.has(spaceId)) result.media += await deleteExpiredMedia(database, spaceId, cutoffMs);
  }
  result.rewritten = await reclaimSpace(database, nowMs, options.signal);
  return result;
}

/**
 * Spaces with expired media, or uses of media. None while the queue is delivered again after a restore: it
 * may have a later use of media, without their bytes.
 */
async function listSpacesWithExpiredMedia(database: Database, expiring: readonly SpaceExpiry[]) {
  const { storedUpTo, replayUpTo } = queuePositions;
  if ((await database.$count(queuePositions, lt(storedUpTo, replayUpTo))) > 0) return [];
  const ofUses = await listSpacesWithExpired(database, mediaUses, expiring);
  return [...ofUses, ...(await listSpacesWithExpired(database, media, expiring))];
}

/** The earlier of the two clocks, so that nothing is deleted too early. */
async function agreedTimeMs(database: Database, nowMs: number): Promise<number> {
  const serverMs = await readServerClock(database);
  expectSameTime(serverMs, nowMs);
  return Math.min(serverMs, nowMs);
}

/**
 * Deletes one batch per space in turn, so that a large one delays no others. @returns the number of events.
 */
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
      // So that deletion uses at most half of the capacity.
      await sleep(performance.now() - startedMs, undefined, { signal });
    }
    turn = next;
  }
  return deleted;
}

/** Gives back disk space of deleted rows, in weeks that are over. @returns the number of rewritten weeks. */
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

/**
 * A bounded number of a space's entries. Their events, never stored, are not in the ledger: sent again, they
 * are new. @returns how many; less than `deletedEntriesMax` when no more have expired.
 */
async function deleteExpiredEntries(database: Database, spaceId: string, rule: ExpiryRule): Promise<number> {
  const cutoffMs = await readCutoff(database, spaceId, rule);
  if (cutoffMs === -Infinity) return 0;
  const expired = await database
    .select({ id: quarantine.id, receivedAt: quarantine.receivedAt })
    .from(quarantine)
    .where(and(eq(quarantine.spaceId, spaceId), lt(quarantine.receivedAt, new Date(cutoffMs))))
    .limit(deletedEntriesMax);
  if (expired.length === 0) return 0;
  const ids = expired.map(({ id }) => id);
  const latestMs = Math.max(...expired.map(({ receivedAt }) => receivedAt.getTime()));
  const isDeleted = await deleteExpired(database, { spaceId, latestMs, rule }, [
    sql`DELETE FROM ${quarantine}
    WHERE ${isAmong(quarantine.spaceId, [spaceId])} AND ${isAmong(quarantine.id, ids)}`,
  ]);
  return isDeleted ? expired.length : 0;
}
