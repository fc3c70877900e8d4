import { and, asc, desc, eq, gt, gte, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import { anyTerm, inSpace } from '../../event/terms.ts';
import { pick } from '../../platform/pick.ts';
import { events, segments } from '../db/schema.ts';
import { opaqueArray, opaqueLimit } from '../db/statement.ts';
import { boundOf } from '../db/weeks.ts';
import type { EventCursor } from './event-cursor.ts';
import { type EventFilter, matchTime, matchValues } from './event-filter.ts';
import { lastStartOfSegment, startInSegment } from './event-position.ts';
import { type EventColumns, type EventRow, type EventSource, rowsOf } from './event-rows.ts';

export interface CandidateSegment {
  readonly id: string;
  /** The latest start time of its events. */
  readonly maxStartMs: number;
  readonly eventCount: number;
}

/** The place of a segment in the order of latest start times. */
export type SegmentPosition = Pick<CandidateSegment, 'id' | 'maxStartMs'>;

export interface CandidateQuery {
  readonly terms: readonly bigint[];
  /** Lists segments with an event after this position; all segments when undefined. */
  readonly after: EventCursor | undefined;
  /** The last segment of the previous listing or walk. */
  readonly listed: SegmentPosition | undefined;
  readonly segmentsMax: number;
  /**
   * Limit of the segments that are sorted. With more matches, any of them are listed instead of the newest.
   */
  readonly sortedMax: number;
  /** Lists only segments that were received since this time. */
  readonly receivedSinceMs?: number;
}

/** The segments that have all terms, latest start time first. */
export async function listCandidates<Columns extends EventColumns>(
  { database, spaceId, filter }: EventSource<Columns>,
  { terms, after, listed, segmentsMax, sortedMax, receivedSinceMs }: CandidateQuery,
): Promise<CandidateSegment[]> {
  const { id, maxStartMs, minStartMs, eventCount } = segments;
  const lastStart = lastStartOfSegment;
  // Sorted outside of the subquery: otherwise the planner would scan an ordered index past all segments
  // without the terms.
  const candidates = database.$with('candidates').as(
    database
      .select({ id, maxStartMs: sql<number>`${maxStartMs}`.as('max_ms'), eventCount })
      .from(segments)
      .where(
        and(
          eq(segments.spaceId, spaceId),
          mayMatch(spaceId, terms, filter),
          receivedSinceMs === undefined ? undefined : gte(id, boundOf(receivedSinceMs)),
          filter.from === undefined ? undefined : gte(lastStart, filter.from),
          after && lte(minStartMs, after.startTimeMs),
          filter.to === undefined ? undefined : lt(minStartMs, filter.to),
          listed &&
            or(lt(lastStart, listed.maxStartMs), and(eq(lastStart, listed.maxStartMs), gt(id, listed.id))),
        ),
      )
      // The limit keeps Postgres from merging this into the outer query.
      .limit(sortedMax),
  );
  // Not prepared: a generic plan assumes frequent terms.
  return database
    .with(candidates)
    .select(pick(candidates, 'id', 'maxStartMs', 'eventCount'))
    .from(candidates)
    .orderBy(desc(candidates.maxStartMs), asc(candidates.id))
    .limit(segmentsMax);
}

export interface SegmentWalkQuery extends Pick<CandidateQuery, 'terms' | 'after' | 'listed'> {
  readonly segmentsMax: number;
  /** Ends the walk. */
  readonly candidatesMax: number;
}

export interface SegmentWalk {
  /** Examined segments that have all terms, latest start time first. */
  readonly candidates: readonly CandidateSegment[];
  /** The last examined segment; undefined when no segment follows. */
  readonly end: SegmentPosition | undefined;
  /** Number of examined segments, and of their events. */
  readonly examined: number;
  readonly events: number;
}

/**
 * Examines the next segments of the space, latest start time first, until `segmentsMax` are examined or
 * `candidatesMax` have all terms. Fast for frequent terms, of which a listing would read and sort all
 * segments.
 */
export async function walkSegments<Columns extends EventColumns>(
  source: EventSource<Columns>,
  query: SegmentWalkQuery,
): Promise<SegmentWalk> {
  const { segmentsMax, candidatesMax } = query;
  const walked = selectWalked(source, query);
  const rows = await source.database
    .select()
    .from(walked)
    // The last examined segment is returned as well: it is where the walk ended.
    .where(or(walked.matches, eq(walked.place, segmentsMax)))
    // The order of the subquery, so that Postgres stops at the limit.
    .orderBy(desc(walked.maxStartMs), asc(walked.id))
    .limit(opaqueLimit(candidatesMax))
    .prepare('segment_walk')
    .execute();
  const last = rows.at(-1);
  const isAtEnd = last === undefined || (rows.length < candidatesMax && last.place < segmentsMax);
  return {
    candidates: rows.filter(({ matches }) => matches),
    end: isAtEnd ? undefined : last,
    examined: last?.place ?? 0,
    events: last?.events ?? 0,
  };
}

/** The next segments, each with its place and the events up to it. */
function selectWalked<Columns extends EventColumns>(
  { database, spaceId, filter }: EventSource<Columns>,
  { terms, after, listed, segmentsMax }: SegmentWalkQuery,
) {
  const { id, maxStartMs, minStartMs, eventCount } = segments;
  const order = [desc(maxStartMs), asc(id)];
  const isCandidate = and(
    mayMatch(spaceId, terms, filter),
    after && lte(minStartMs, after.startTimeMs),
    filter.to === undefined ? undefined : lt(minStartMs, filter.to),
  );
  const runningTotal = (aggregate: SQL) =>
    sql<number>`(${aggregate} OVER (ORDER BY ${sql.join(order, sql`, `)} ROWS UNBOUNDED PRECEDING))::integer`;
  return database
    .select({
      id,
      maxStartMs: sql<number>`${maxStartMs}`.as('max_ms'),
      eventCount,
      matches: sql<boolean>`${isCandidate}`.as('matches'),
      place: runningTotal(sql`row_number()`).as('place'),
      events: runningTotal(sql`sum(${eventCount})`).as('events'),
    })
    .from(segments)
    .where(
      and(
        eq(segments.spaceId, spaceId),
        filter.from === undefined ? undefined : gte(maxStartMs, filter.from),
        // The first condition is a range of the index.
        listed && lte(maxStartMs, listed.maxStartMs),
        listed && or(lt(maxStartMs, listed.maxStartMs), gt(id, listed.id)),
      ),
    )
    .orderBy(...order)
    .limit(opaqueLimit(segmentsMax))
    .as('walked');
}

/** Which of the matching events in some segments to read. */
export interface CandidateRows {
  /** The condition on the events' position, using {@link startInSegment}. */
  readonly position: SQL | undefined;
  readonly order: (start: SQL, id: SQL) => SQL[];
  readonly rowsMax: number;
}

/** The matching events of these segments, in this order. */
export async function readCandidates<Columns extends EventColumns>(
  { database, spaceId, columns, filter }: EventSource<Columns>,
  found: readonly Pick<CandidateSegment, 'id'>[],
  { position, order, rowsMax }: CandidateRows,
): Promise<EventRow<Columns>[]> {
  const ids = `{${found.map(({ id }) => id).join(',')}}`;
  const matching = database
    .select<EventColumns>(columns)
    .from(events)
    .where(
      and(
        eq(events.spaceId, spaceId),
        eq(events.segmentId, sql`candidate.id`),
        matchTime(filter, startInSegment),
        position,
        matchValues(filter),
      ),
    )
    // The offset keeps Postgres from reordering the joins; it might scan the index on times instead. Drizzle
    // omits a plain 0, so it is a parameter.
    .offset(sql.placeholder('offset'))
    .as('matching');
  // The subquery's own columns: otherwise Drizzle would nest each row.
  const selected = Object.fromEntries(
    Object.keys(columns).map((name) => [name, matching[name] ?? sql`NULL`]),
  );
  const rows = await database
    .select(selected)
    .from(sql`unnest(${opaqueArray(ids, 'uuid')}) AS candidate(id)`)
    .crossJoinLateral(matching)
    .orderBy(...order(sql`${matching.startTimeMs}`, sql`${matching.id}`))
    .limit(rowsMax)
    .prepare('candidate_events')
    .execute({ offset: 0 });
  return rowsOf(rows);
}

/** The condition that a segment may have an event with all these terms of the space. */
export function hasTerms(spaceId: string, terms: readonly bigint[]): SQL | undefined {
  return or(
    sql`${segments.terms} @> ${arrayOf(terms)}`,
    sql`${segments.terms} @> ${arrayOf(inSpace(spaceId, [anyTerm]))}`,
  );
}

/** The same, with the notes that a filter asks for. Undefined when neither says anything of segments. */
export function mayMatch(
  spaceId: string,
  terms: readonly bigint[],
  { noted }: Pick<EventFilter, 'noted'>,
): SQL | undefined {
  return and(
    terms.length === 0 ? undefined : hasTerms(spaceId, terms),
    ...(noted?.segments ?? []).map((one) =>
      or(
        inArray(segments.id, [...one.ids]),
        one.terms.length === 0
          ? undefined
          : sql`${segments.terms} && ${arrayOf([...one.terms, ...inSpace(spaceId, [anyTerm])])}`,
      ),
    ),
  );
}

function arrayOf(terms: readonly bigint[]): SQL {
  return sql`${`{${terms.join(',')}}`}::bigint[]`;
}
