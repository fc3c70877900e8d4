import { and, asc, eq, gte, lt, or, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { events, segments } from '../db/schema.ts';
import { opaqueLimit } from '../db/statement.ts';
import { mayMatch, readCandidates } from './candidate-segments.ts';
import type { EventCursor } from './event-cursor.ts';
import { type EventFilter, matchTime, matchValues, termsOf } from './event-filter.ts';
import { readEventPage } from './event-page.ts';
import {
  compareEvents,
  isBefore,
  lastStartOfSegment,
  oldestFirst,
  placeIn,
  startInSegment,
} from './event-position.ts';
import { type EventColumns, type EventRow, type EventSource, rowsOf } from './event-rows.ts';
import { type ListLimits, listLimits } from './limits.ts';

/** The event next to a position in a list. */
export interface Neighbour<Row> {
  /** Undefined when there is none or when it was not found. */
  row: Row | undefined;
  /** Whether an undefined row means that there is none. The work is bounded, so this may be false. */
  isCertain: boolean;
}

export interface Neighbours<Row> {
  /** The event just before the position: the next newer one. */
  newer: Neighbour<Row>;
  /** The event just after the position: the next older one. */
  older: Neighbour<Row>;
}

/** Finds the matching events just before and just after a position in list order. */
export async function findNeighbours<Columns extends EventColumns>(
  database: Database,
  spaceId: string,
  query: { columns: Columns; filter: EventFilter; at: EventCursor; limits?: ListLimits },
): Promise<Neighbours<EventRow<Columns>>> {
  const { columns, filter, at, limits = listLimits } = query;
  const source = { database, spaceId, columns, filter, limits };
  const [newer, older] = await Promise.all([
    findNewer(source, at),
    readEventPage(database, spaceId, { columns, filter, after: at, limit: 1, limits }),
  ]);
  const [row] = older.rows;
  return { newer, older: { row, isCertain: row !== undefined || older.isComplete } };
}

/** Works like a page, backwards: first in time order, then in the segments that have the filter's terms. */
async function findNewer<Columns extends EventColumns>(
  source: EventSource<Columns>,
  at: EventCursor,
): Promise<Neighbour<EventRow<Columns>>> {
  const { filter, spaceId, limits } = source;
  const terms = termsOf(spaceId, filter);
  const bySegments = mayMatch(spaceId, terms, filter) !== undefined;
  const walk = await walkUp(source, at, bySegments ? limits.firstWalkEvents : limits.walkedEvents);
  if (walk.row !== undefined || walk.isCertain || !bySegments) return walk;
  return findInSegmentsAfter(source, terms, at);
}

/** Examines at most `eventsMax` events before the position, nearest first. */
async function walkUp<Columns extends EventColumns>(
  { database, spaceId, columns, filter }: EventSource<Columns>,
  at: EventCursor,
  eventsMax: number,
): Promise<Neighbour<EventRow<Columns>>> {
  const walked = database
    .select({
      ...(columns as EventColumns),
      matches: sql<boolean>`coalesce(${matchValues(filter) ?? sql`true`}, false)`.as('matches'),
      place: placeIn(oldestFirst(sql`${events.startTimeMs}`, sql`${events.id}`)),
    })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), matchTime(filter), isBefore(at)))
    .orderBy(...oldestFirst())
    .limit(opaqueLimit(eventsMax))
    .as('walked');
  const rows = await database
    .select()
    .from(walked)
    .where(or(walked.matches, eq(walked.place, eventsMax)))
    .orderBy(asc(walked.place))
    .limit(opaqueLimit(2))
    .prepare('event_walk_up')
    .execute();
  const [found] = rows.filter((row) => row.matches);
  if (found === undefined) return { row: undefined, isCertain: rows.length === 0 };
  const { matches: _matches, place: _place, ...row } = found;
  return { row: rowsOf<Columns>([row])[0], isCertain: true };
}

/**
 * Reads the segments that have all terms, oldest first, until no remaining segment can have a nearer event.
 */
async function findInSegmentsAfter<Columns extends EventColumns>(
  source: EventSource<Columns>,
  terms: readonly bigint[],
  at: EventCursor,
): Promise<Neighbour<EventRow<Columns>>> {
  const { database, spaceId, filter, limits } = source;
  const { id, minStartMs, eventCount } = segments;
  const candidates = database.$with('candidates').as(
    database
      .select({ id, minStartMs: sql<number>`${minStartMs}`.as('min_ms'), eventCount })
      .from(segments)
      .where(
        and(
          eq(segments.spaceId, spaceId),
          mayMatch(spaceId, terms, filter),
          gte(lastStartOfSegment, at.startTimeMs),
          filter.to === undefined ? undefined : lt(minStartMs, filter.to),
        ),
      )
      .limit(everyCandidate),
  );
  const list = await database
    .with(candidates)
    .select({ id: candidates.id, minStartMs: candidates.minStartMs, eventCount: candidates.eventCount })
    .from(candidates)
    .orderBy(asc(candidates.minStartMs), asc(candidates.id))
    .limit(limits.segmentsListed);
  let best: EventRow<Columns> | undefined;
  let examined = 0;
  for (let from = 0; from < list.length; from += segmentsPerRead) {
    const read = list.slice(from, from + segmentsPerRead);
    const restMs = read[0]?.minStartMs ?? 0;
    if (best !== undefined && best.startTimeMs < restMs) return { row: best, isCertain: true };
    if (examined > limits.segmentEvents) return { row: undefined, isCertain: false };
    const found = await readCandidates(source, read, {
      position: isBefore(at, startInSegment),
      order: oldestFirst,
      rowsMax: 1,
    });
    for (const row of found) if (best === undefined || compareEvents(row, best) > 0) best = row;
    examined += read.reduce((sum, segment) => sum + segment.eventCount, 0);
  }
  const last = list[limits.segmentsListed - 1];
  // A segment that was not listed may have a nearer event.
  if (last !== undefined && !(best !== undefined && best.startTimeMs < last.minStartMs)) {
    return { row: undefined, isCertain: false };
  }
  return { row: best, isCertain: true };
}

/** Segments read by one statement. Few are enough, since the first usually has the nearest event. */
const segmentsPerRead = 8;

/** A limit above any number of segments, which keeps the listing a separate subquery. */
const everyCandidate = 2 ** 40;
