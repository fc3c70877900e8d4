import { and, asc, desc, eq, gt, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import { events, segments } from '../db/schema.ts';
import { opaqueArray } from '../db/statement.ts';
import { anyTerm, inSpace } from '../event/terms.ts';
import type { EventCursor } from './event-cursor.ts';
import { matchTime, matchValues } from './event-filter.ts';
import { lastStartOfSegment, startInSegment } from './event-position.ts';
import type { EventColumns, EventRow, EventSource } from './event-rows.ts';

/** A segment that may have matching events. */
export interface CandidateSegment {
  readonly id: string;
  /** The latest start time of its events. */
  readonly maxStartMs: number;
  readonly eventCount: number;
}

export interface CandidateQuery {
  readonly terms: readonly bigint[];
  /** Lists segments with an event after this position; all segments when undefined. */
  readonly after: EventCursor | undefined;
  /** The last segment of the previous listing. */
  readonly listed: CandidateSegment | undefined;
  /** Limit of the segments returned. */
  readonly segmentsMax: number;
  /** Limit of the segments that are sorted. With more matches, any of them are listed instead of the newest. */
  readonly sortedMax: number;
}

/** The segments that have all terms, latest start time first. */
export async function listCandidates<Columns extends EventColumns>(
  { database, spaceId, filter }: EventSource<Columns>,
  { terms, after, listed, segmentsMax, sortedMax }: CandidateQuery,
): Promise<CandidateSegment[]> {
  const { id, maxStartMs, minStartMs, eventCount } = segments;
  const lastStart = lastStartOfSegment;
  // Sorted outside of the subquery: otherwise the planner would scan an ordered index past all segments without the terms.
  const candidates = database.$with('candidates').as(
    database
      .select({ id, maxStartMs: sql<number>`${maxStartMs}`.as('max_ms'), eventCount })
      .from(segments)
      .where(
        and(
          eq(segments.spaceId, spaceId),
          hasTerms(spaceId, terms),
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
    .select({ id: candidates.id, maxStartMs: candidates.maxStartMs, eventCount: candidates.eventCount })
    .from(candidates)
    .orderBy(desc(candidates.maxStartMs), asc(candidates.id))
    .limit(segmentsMax);
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
    // The offset keeps Postgres from reordering the joins; it might scan the index on times instead. Drizzle omits a plain 0,
    // so it is a parameter.
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
  return rows as unknown as EventRow<Columns>[];
}

/** The condition that a segment may have an event with all these terms of the space. */
export function hasTerms(spaceId: string, terms: readonly bigint[]): SQL | undefined {
  const contains = (all: readonly bigint[]) => sql`${segments.terms} @> ${`{${all.join(',')}}`}::bigint[]`;
  return or(contains(terms), contains(inSpace(spaceId, [anyTerm])));
}
