import { asc, type SQL, sql } from 'drizzle-orm';
import postgres from 'postgres';
import type { Database } from '../db/database.ts';
import { events, segments } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import { boundOf } from '../db/weeks.ts';
import { deletedEventsMax, deletedSegmentsMax, rowLockTimeoutMs, segmentIdDelayMs } from './limits.ts';
import { isAmong, propagateSettings, setLockTimeout, uuidArray } from './literals.ts';
import type { SpaceExpiry } from './policy.ts';
import { defaultSegments } from './week-partitions.ts';

/** Where the expired segments of a space are looked for: in the weekly partitions, or in the default partition. */
export type SegmentPlace = 'weeks' | 'default';

/** A segment that has expired. All its events were received when it was, so they have expired with it. */
interface ExpiredSegment {
  readonly id: string;
  readonly eventCount: number;
}

/** What one statement deleted. */
export interface DeletedBatch {
  /** Events of the segments; some of them may have been erased before. */
  readonly events: number;
  /** The last segment, after which the next batch begins; undefined when no more have expired. */
  readonly last: string | undefined;
}

/**
 * Deletes the next expired segments of a space, with their events, in one transaction of bounded size. On Citus it touches one
 * shard. Killed in between, or run by two processes, it leaves no event without its segment.
 *
 * @param after the last segment of the batch before.
 */
export async function deleteExpiredSegments(
  database: Database,
  space: SpaceExpiry,
  { place, after }: { place: SegmentPlace; after: string | undefined },
): Promise<DeletedBatch> {
  const found = await findExpired(database, space, { place, after });
  const batch = cutBatch(found);
  const last = batch.at(-1)?.id;
  if (last === undefined) return { events: 0, last };
  const ids = batch.map(({ id }) => id);
  const isDeleted = await tryDelete(database, space.spaceId, ids);
  const deleted = isDeleted ? batch.reduce((sum, { eventCount }) => sum + eventCount, 0) : 0;
  return { events: deleted, last };
}

async function findExpired(
  database: Database,
  { spaceId, cutoffMs }: SpaceExpiry,
  { place, after }: { place: SegmentPlace; after: string | undefined },
): Promise<ExpiredSegment[]> {
  const from = place === 'weeks' ? sql`${segments}` : sql`${sql.identifier(defaultSegments)} AS ${segments}`;
  const conditions: SQL[] = [
    sql`${segments.spaceId} = ${spaceId}`,
    sql`${segments.receivedAt} < ${new Date(cutoffMs).toISOString()}::timestamptz`,
  ];
  // A bound for the primary key, which also leaves out the partitions of later weeks.
  if (place === 'weeks') conditions.push(sql`${segments.id} < ${boundOf(cutoffMs + segmentIdDelayMs)}::uuid`);
  if (after !== undefined) conditions.push(sql`${segments.id} > ${after}::uuid`);
  return database.execute<{ id: string; eventCount: number }>(sql`
    SELECT ${segments.id} AS id, ${segments.eventCount} AS "eventCount" FROM ${from}
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY ${asc(segments.id)} LIMIT ${deletedSegmentsMax}`);
}

/** As many as one statement may delete, at least one. */
function cutBatch(found: readonly ExpiredSegment[]): readonly ExpiredSegment[] {
  let total = 0;
  const end = found.findIndex(({ eventCount }) => {
    total += eventCount;
    return total > deletedEventsMax;
  });
  return end === -1 ? found : found.slice(0, Math.max(1, end));
}

/** @returns false when another transaction holds one of the segments. */
async function tryDelete(database: Database, spaceId: string, ids: readonly string[]): Promise<boolean> {
  try {
    await database.execute(deleteSegments(spaceId, ids));
    return true;
  } catch (error) {
    if (isLockConflict(error)) return false;
    throw error;
  }
}

/**
 * Each statement of the block sees what was committed before it. A writer that adds events to a segment locks its row, so after
 * the first statement there is none, and the second one sees all events of the segments.
 */
function deleteSegments(spaceId: string, ids: readonly string[]): SQL {
  const ofSpace = (column: typeof segments.spaceId | typeof events.spaceId) =>
    sql`${nameOf(column)} = ANY (${uuidArray([spaceId])})`;
  return sql`
DO $$
BEGIN
  ${propagateSettings};
  ${setLockTimeout(rowLockTimeoutMs)};
  PERFORM FROM ${segments} WHERE ${ofSpace(segments.spaceId)} AND ${isAmong(segments.id, ids)}
    ORDER BY ${nameOf(segments.id)} FOR UPDATE;
  DELETE FROM ${events} WHERE ${ofSpace(events.spaceId)} AND ${isAmong(events.segmentId, ids)};
  DELETE FROM ${segments} WHERE ${ofSpace(segments.spaceId)} AND ${isAmong(segments.id, ids)};
END $$`;
}

/** lock_not_available; deadlock_detected, which on Citus is also found between its nodes. In either case nothing has changed. */
export function isLockConflict(error: unknown): boolean {
  return error instanceof postgres.PostgresError && ['55P03', '40P01'].includes(error.code);
}
