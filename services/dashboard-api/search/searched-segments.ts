import { and, asc, desc, eq, gt, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { hourMs } from '../../../platform/time.ts';
import type { Database } from '../../../store/db/database.ts';
import { segments } from '../../../store/db/schema.ts';
import { opaqueLimit } from '../../../store/db/statement.ts';
import { mayMatch, type SegmentPosition } from '../../../store/read/candidate-segments.ts';
import type { EventCursor } from '../../../store/read/event-cursor.ts';
import { type EventFilter, termsOf } from '../../../store/read/event-filter.ts';
import { lastStartOfSegment } from '../../../store/read/event-position.ts';
import { readCells } from '../charts/read-cells.ts';

export interface SearchedSegment extends SegmentPosition {
  rawBytes: number;
}

const { id, spaceId, maxStartMs, minStartMs, rawBytes, eventCount } = segments;

/** A limit above any space's segments: keeps Postgres from merging the subquery into the outer query. */
const everySegment = 2 ** 40;

/** The next ones that may have matching events, latest start time first. */
export async function listSearchedSegments(
  database: Database,
  ofSpace: string,
  { filter, after, limit }: { filter: EventFilter; after: EventCursor | undefined; limit: number },
): Promise<SearchedSegment[]> {
  const mayHave = mayMatch(ofSpace, termsOf(ofSpace, filter), filter);
  const condition = conditionOf(ofSpace, filter, after);
  if (mayHave === undefined) {
    return await database
      .select({ id, maxStartMs, rawBytes })
      .from(segments)
      .where(condition)
      .orderBy(desc(maxStartMs), asc(id))
      .limit(opaqueLimit(limit))
      .prepare('searched_segments')
      .execute();
  }
  // Otherwise the planner would scan an ordered index past all segments without the terms.
  const candidates = database
    .$with('candidates')
    .as(
      database
        .select({ id, maxStartMs, rawBytes })
        .from(segments)
        .where(and(condition, mayHave))
        .limit(everySegment),
    );
  return await database
    .with(candidates)
    .select({ id: candidates.id, maxStartMs: candidates.maxStartMs, rawBytes: candidates.rawBytes })
    .from(candidates)
    .orderBy(desc(candidates.maxStartMs), asc(candidates.id))
    .limit(limit);
}

function isAfter(after: EventCursor | undefined, lastStart: SQL<number>): SQL | undefined {
  if (after === undefined) return undefined;
  return and(lte(lastStart, after.startTimeMs), or(lt(lastStart, after.startTimeMs), gt(id, after.id)));
}

/** Adding up more would take Postgres longer than some tens of milliseconds. */
const addedSegmentsMax = 100_000;

/**
 * The bytes of the segments that a search has left. Where they are too many to add up, some are, and the
 * number of events says how many more there are.
 */
export async function sumLeftBytes(
  database: Database,
  ofSpace: string,
  { filter, after, segmentsMax = addedSegmentsMax }: LeftQuery,
): Promise<number> {
  const left = database
    .select({ rawBytes, eventCount })
    .from(segments)
    .where(and(conditionOf(ofSpace, filter, after), mayMatch(ofSpace, termsOf(ofSpace, filter), filter)))
    .limit(segmentsMax + 1)
    .as('left_segments');
  const sum = (column: PgColumn) => sql<number>`coalesce(sum(${column}), 0)::float8`;
  const [row] = await database
    .select({
      count: sql<number>`count(*)::integer`,
      bytes: sum(left.rawBytes),
      events: sum(left.eventCount),
    })
    .from(left);
  if (row === undefined || row.count <= segmentsMax) return row?.bytes ?? 0;
  const { from = 0, to = Date.now() } = filter;
  const boundaries = [Math.floor(from / hourMs) * hourMs, Math.ceil(to / hourMs) * hourMs];
  const cells = await readCells(database, ofSpace, { boundaries, group: 'none', filter: {} });
  const all = cells.reduce((total, { events }) => total + events, 0);
  return row.bytes * Math.max(1, all / row.events);
}

interface LeftQuery {
  readonly filter: EventFilter;
  readonly after: EventCursor | undefined;
  readonly segmentsMax?: number;
}

function conditionOf(ofSpace: string, filter: EventFilter, after: EventCursor | undefined): SQL | undefined {
  const isInOrder = mayMatch(ofSpace, termsOf(ofSpace, filter), filter) === undefined;
  const lastStart = isInOrder ? sql<number>`${maxStartMs}` : lastStartOfSegment;
  return and(
    eq(spaceId, ofSpace),
    filter.from === undefined ? undefined : gte(lastStart, filter.from),
    filter.to === undefined ? undefined : lt(minStartMs, filter.to),
    isAfter(after, lastStart),
  );
}
