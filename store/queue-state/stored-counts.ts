import type { JetStreamManager } from '@nats-io/jetstream';
import { and, asc, desc, eq, gt, lt, lte, max, ne, or, type SQL, sql } from 'drizzle-orm';
import { minuteMs } from '../../platform/time.ts';
import type { Database } from '../db/database.ts';
import { queueCounts, segments, spaceCommits } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import { readStreamStates, type StreamState } from './stream-state.ts';

/** Rows of `space_commits` read by one count: a minute's commits take well below a second. */
const countedCommitsMax = 200_000;

/** Time by which a message accepted after its stream's state was read may seem to be stored earlier. */
const stateMarginMs = minuteMs;

/** `atMost` is null when the number is not known. */
export interface LostEvents {
  readonly atLeast: number;
  readonly atMost: number | null;
}

/** The messages of a stream after one sequence, up to another one. */
interface Range {
  readonly after: number;
  readonly upTo: number;
}

/**
 * Counts stored events since the last count of each replay window, unless that is younger than `intervalMs`.
 * A range's number never changes, so any number of writers may count, and the first row is kept.
 */
export async function keepStoredCounts(
  database: Database,
  manager: JetStreamManager,
  intervalMs: number,
): Promise<void> {
  for (const state of await readStreamStates(manager))
    if (state.stream.keepsStored) await recordStoredCount(database, state, intervalMs);
}

async function recordStoredCount(database: Database, state: StreamState, intervalMs: number): Promise<void> {
  const { stream, createdAt, storedUpTo, lastSequence, firstSequence } = state;
  const { after, ageMs } = await readLastCount(database, state);
  if (ageMs < intervalMs || storedUpTo <= after) return;
  const events = await countStored(database, state, {
    after,
    upTo: storedUpTo,
    commitsMax: countedCommitsMax,
  });
  await database
    .insert(queueCounts)
    .values({ stream: stream.name, createdAt, afterSequence: after, storedUpTo, lastSequence, events })
    .onConflictDoNothing();
  // The replay window has no message of these ranges any more.
  const isPast = or(ne(queueCounts.createdAt, createdAt), lt(queueCounts.storedUpTo, firstSequence - 1));
  await database.delete(queueCounts).where(and(eq(queueCounts.stream, stream.name), isPast));
}

/** Records that lost messages were not counted, since another restore would take them for empty. */
export async function recordUncounted(database: Database, state: StreamState, upTo: number): Promise<void> {
  const { stream, createdAt, lastSequence } = state;
  const { after } = await readLastCount(database, state);
  if (upTo <= after) return;
  await database
    .insert(queueCounts)
    .values({ stream: stream.name, createdAt, afterSequence: after, storedUpTo: upTo, lastSequence })
    .onConflictDoNothing();
}

/**
 * Counts events stored from messages that the stream no longer has, less those in the restored database. One
 * that was erased since is counted, and one that is also in a later message.
 * @param missing `after`: the database has everything up to this sequence. `upTo`: the last missing one.
 */
export async function countLost(database: Database, state: StreamState, missing: Range): Promise<LostEvents> {
  const rows = await database
    .select()
    .from(queueCounts)
    .where(
      and(
        isOf(state),
        gt(queueCounts.storedUpTo, missing.after),
        lt(queueCounts.afterSequence, missing.upTo),
      ),
    )
    .orderBy(asc(queueCounts.afterSequence));
  const after = rows[0]?.afterSequence ?? missing.after;
  const end = rows.at(-1)?.storedUpTo ?? missing.after;
  const lossOf = async (counted: typeof rows, upTo: number) => {
    const stored = counted.reduce((sum, { events }) => sum + (events ?? 0), 0);
    const restored = (await countStored(database, state, { after, upTo })) ?? 0;
    return Math.max(0, stored - restored);
  };
  // Later messages of the last range may be kept.
  const whole = rows.filter(({ storedUpTo }) => storedUpTo < Math.min(state.firstSequence, missing.upTo + 1));
  const isCounted =
    after <= missing.after && end >= missing.upTo && rows.every(({ events }) => events !== null);
  return {
    atLeast: await lossOf(whole, whole.at(-1)?.storedUpTo ?? after),
    atMost: isCounted ? await lossOf(rows, missing.upTo) : null,
  };
}

/** Where the next range begins, and the age of the last count. */
async function readLastCount(
  database: Database,
  state: StreamState,
): Promise<{ after: number; ageMs: number }> {
  const [last] = await database
    .select({
      after: queueCounts.storedUpTo,
      ageMs: sql<number>`(extract(epoch FROM now() - ${queueCounts.countedAt}) * 1000)::float8`,
    })
    .from(queueCounts)
    .where(isOf(state))
    .orderBy(desc(queueCounts.afterSequence))
    .limit(1);
  return last ?? { after: 0, ageMs: Number.POSITIVE_INFINITY };
}

/**
 * Counts events in the database from these messages, by the commits since the first can have been stored.
 * @returns null when there are more commits than `commitsMax`.
 */
async function countStored(
  database: Database,
  state: StreamState,
  { after, upTo, commitsMax }: Range & { commitsMax?: number },
): Promise<number | null> {
  const { spaceId, segmentIds, storedAt } = spaceCommits;
  const [before] = await database
    .select({ at: max(queueCounts.countedAt) })
    .from(queueCounts)
    .where(and(isOf(state), lte(queueCounts.lastSequence, after)));
  const since = new Date((before?.at ?? state.createdAt).getTime() - stateMarginMs);
  const isRecent = sql`${storedAt} >= ${since.toISOString()}::timestamptz`;
  if (commitsMax !== undefined) {
    const [found] = await database.execute<{ commits: number }>(sql`
      SELECT count(*)::float8 AS commits FROM (SELECT 1 AS one FROM ${spaceCommits} WHERE ${isRecent} LIMIT ${commitsMax + 1}) AS recent`);
    if (found === undefined || found.commits > commitsMax) return null;
  }
  const [row] = await database.execute<{ events: number }>(sql`
    SELECT coalesce(sum(${segments.eventCount}), 0)::float8 AS events
    FROM (SELECT ${spaceId}, unnest(${segmentIds}) AS id FROM ${spaceCommits} WHERE ${isRecent}) AS stored
    JOIN ${segments} ON ${segments.spaceId} = stored.${nameOf(spaceId)} AND ${segments.id} = stored.id
    WHERE ${segments.queueStream} = ${state.stream.name} AND ${segments.queueSequence} > ${after} AND ${segments.queueSequence} <= ${upTo}`);
  return row?.events ?? null;
}

/** Another stream of the same name has other messages under the same sequences. */
function isOf({ stream, createdAt }: StreamState): SQL | undefined {
  return and(eq(queueCounts.stream, stream.name), eq(queueCounts.createdAt, createdAt));
}
