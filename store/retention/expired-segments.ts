import { asc, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { layoutOf } from '../db/layout/layout.ts';
import { defaultSegments } from '../db/partitions.ts';
import { events, segments } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import { boundOf } from '../db/weeks.ts';
import { deleteExpired } from './delete-expired.ts';
import { deletedEventsMax, deletedSegmentsMax, segmentIdDelayMs } from './limits.ts';
import { isAmong, uuidArray } from './literals.ts';
import { type ExpiryRule, readCutoff, type SpaceExpiry } from './policy.ts';

/** Where to look for expired segments of a space: in the weekly partitions or in the default partition. */
export type SegmentPlace = 'weeks' | 'default';

/** An expired segment. Its events were all received with it, so they have expired too. */
interface ExpiredSegment {
  readonly id: string;
  readonly eventCount: number;
  readonly receivedAtMs: number;
}

export interface DeletedBatch {
  /** Events that the segments were stored with; some may have been erased before. */
  readonly events: number;
  /** The next batch begins after it. Undefined when no more have expired. */
  readonly last: string | undefined;
}

/** Finds these spaces by one statement. On Citus, where such a join is not possible, it returns all. */
export async function listSpacesWithExpiredSegments(
  database: Database,
  expiries: readonly SpaceExpiry[],
  place: SegmentPlace,
): Promise<string[]> {
  if ((await layoutOf(database)).isCluster) return expiries.map(({ spaceId }) => spaceId);
  const arrayOf = (element: (expiry: SpaceExpiry) => string) => `{${expiries.map(element).join(',')}}`;
  const ids = arrayOf(({ spaceId }) => spaceId);
  const cutoffs = arrayOf(({ cutoffMs }) => new Date(cutoffMs).toISOString());
  const bounds = arrayOf(({ cutoffMs }) => boundOf(cutoffMs + segmentIdDelayMs));
  const conditions: SQL[] = [
    sql`${segments.spaceId} = space.id`,
    sql`${segments.receivedAt} < space.cutoff`,
    ...(place === 'weeks' ? [sql`${segments.id} < space.bound`] : []),
  ];
  // The limit keeps Postgres from reading all segments of all spaces for a join by hash.
  const rows = await database.execute<{ id: string }>(sql`
    SELECT space.id FROM unnest(${ids}::uuid[], ${cutoffs}::timestamptz[], ${bounds}::uuid[]) AS space(id, cutoff, bound)
    CROSS JOIN LATERAL (SELECT FROM ${fromPlace(place)} WHERE ${sql.join(conditions, sql` AND `)} LIMIT 1) AS expired`);
  return rows.map(({ id }) => id);
}

/**
 * Deletes the next expired segments of a space and their events in a bounded transaction, on one shard of
 * Citus: no event is left without its segment. The retention is read for each batch.
 * @param after the last segment of the previous batch.
 */
export async function deleteExpiredSegments(
  database: Database,
  spaceId: string,
  { rule, place, after }: { rule: ExpiryRule; place: SegmentPlace; after: string | undefined },
): Promise<DeletedBatch> {
  const cutoffMs = await readCutoff(database, spaceId, rule);
  if (cutoffMs === -Infinity) return { events: 0, last: undefined };
  const found = await findExpired(database, { spaceId, cutoffMs }, { place, after });
  const batch = cutBatch(found);
  const last = batch.at(-1)?.id;
  if (last === undefined) return { events: 0, last };
  const ids = batch.map(({ id }) => id);
  const latestMs = Math.max(...batch.map(({ receivedAtMs }) => receivedAtMs));
  const isDeleted = await deleteExpired(database, { spaceId, latestMs, rule }, deletions(spaceId, ids));
  const deleted = isDeleted ? batch.reduce((sum, { eventCount }) => sum + eventCount, 0) : 0;
  return { events: deleted, last };
}

async function findExpired(
  database: Database,
  { spaceId, cutoffMs }: { spaceId: string; cutoffMs: number },
  { place, after }: { place: SegmentPlace; after: string | undefined },
): Promise<ExpiredSegment[]> {
  const conditions: SQL[] = [
    sql`${segments.spaceId} = ${spaceId}`,
    sql`${segments.receivedAt} < ${new Date(cutoffMs).toISOString()}::timestamptz`,
  ];
  // A range of the primary key, which also prunes the partitions of later weeks.
  if (place === 'weeks') conditions.push(sql`${segments.id} < ${boundOf(cutoffMs + segmentIdDelayMs)}::uuid`);
  if (after !== undefined) conditions.push(sql`${segments.id} > ${after}::uuid`);
  return database.execute<{ id: string; eventCount: number; receivedAtMs: number }>(sql`
    SELECT ${segments.id} AS id, ${segments.eventCount} AS "eventCount",
      extract(epoch FROM ${segments.receivedAt})::float8 * 1000 AS "receivedAtMs"
    FROM ${fromPlace(place)}
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY ${asc(segments.id)} LIMIT ${deletedSegmentsMax}`);
}

function fromPlace(place: SegmentPlace): SQL {
  return place === 'weeks' ? sql`${segments}` : sql`${sql.identifier(defaultSegments)} AS ${segments}`;
}

/** As many segments as one statement may delete, at least one. */
function cutBatch(found: readonly ExpiredSegment[]): readonly ExpiredSegment[] {
  let total = 0;
  const end = found.findIndex(({ eventCount }) => {
    total += eventCount;
    return total > deletedEventsMax;
  });
  return end === -1 ? found : found.slice(0, Math.max(1, end));
}

/** The first statement waits for writers, which lock segments; the second one sees all their events. */
function deletions(spaceId: string, ids: readonly string[]): SQL[] {
  const ofSpace = (column: typeof segments.spaceId | typeof events.spaceId) =>
    sql`${nameOf(column)} = ANY (${uuidArray([spaceId])})`;
  return [
    sql`PERFORM FROM ${segments} WHERE ${ofSpace(segments.spaceId)} AND ${isAmong(segments.id, ids)}
    ORDER BY ${nameOf(segments.id)} FOR UPDATE`,
    sql`DELETE FROM ${events} WHERE ${ofSpace(events.spaceId)} AND ${isAmong(events.segmentId, ids)}`,
    sql`DELETE FROM ${segments} WHERE ${ofSpace(segments.spaceId)} AND ${isAmong(segments.id, ids)}`,
  ];
}
