import { and, desc, eq, gte, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { events, segments } from '../db/schema.ts';
import { addedNumberMax } from '../event/limits.ts';
import { anyTerm, inSpace } from '../event/terms.ts';
import { quoteElement } from '../event/text.ts';
import type { EventCursor } from './event-cursor.ts';
import { type EventFilter, matchTime, termsOf } from './event-filter.ts';
import { isAfter, startInSegment } from './event-position.ts';

/** A column that groups events by thread or by user. */
export type ActivityColumn = 'threadId' | 'userId';

export interface ActivitySummary {
  value: string;
  events: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  firstStartMs: number;
  lastStartMs: number;
  /** Whether one of the value's events is at or before `position`: an earlier page has already shown the value. */
  isShown: boolean;
}

export interface SummaryQuery {
  column: ActivityColumn;
  values: readonly string[];
  range: Pick<EventFilter, 'from' | 'to'>;
  /** The last event that earlier pages examined; undefined for the first page. */
  position: EventCursor | undefined;
  /** Limit of the events in the segments that are read; the last segment may exceed it. */
  eventsMax: number;
}

/** Limit of the segments that are read: each has a fixed cost besides its events. */
const segmentsMax = 400;

/** Candidate segments that are sorted by time to choose the newest. */
const sortedSegmentsMax = 20_000;

/**
 * Counts the events of each value, in the segments that have one of the values.
 *
 * @returns `isComplete` is false when they have more than `eventsMax` events: then only the newest segments are counted.
 */
export async function summarizeActivity(
  database: Database,
  spaceId: string,
  { column, values, range, position, eventsMax }: SummaryQuery,
): Promise<{ summaries: ActivitySummary[]; isComplete: boolean }> {
  if (values.length === 0) return { summaries: [], isComplete: true };
  const listed = await listSegments(database, spaceId, { column, values, range });
  const ids = takeSegments(listed, eventsMax);
  const key = events[column];
  const wanted = sql`${`{${values.map(quoteElement).join(',')}}`}::text[]`;
  const matching = database
    .select({
      value: sql<string>`${key}`.as('value'),
      state: events.state,
      inputTokens: events.inputTokens,
      outputTokens: events.outputTokens,
      startTimeMs: events.startTimeMs,
      isShown: sql<boolean>`${position === undefined ? sql`false` : sql`NOT (${isAfter(position)})`}`.as(
        'is_shown',
      ),
    })
    .from(events)
    .where(
      and(
        eq(events.spaceId, spaceId),
        eq(events.segmentId, sql`candidate.id`),
        matchTime(range, startInSegment),
        sql`${key} = ANY (${wanted})`,
      ),
    )
    // Keeps Postgres from reordering the joins, as in candidate-segments.ts.
    .offset(sql.placeholder('offset'))
    .as('matching');
  const summaries = await database
    .select({
      value: matching.value,
      events: sql<number>`count(*)::integer`,
      errors: sql<number>`(count(*) FILTER (WHERE ${matching.state} = 'error'))::integer`,
      inputTokens: sumTokens(matching.inputTokens),
      outputTokens: sumTokens(matching.outputTokens),
      firstStartMs: sql<number>`min(${matching.startTimeMs})`,
      lastStartMs: sql<number>`max(${matching.startTimeMs})`,
      isShown: sql<boolean>`bool_or(${matching.isShown})`,
    })
    .from(sql`unnest(${`{${ids.join(',')}}`}::uuid[]) AS candidate(id)`)
    .crossJoinLateral(matching)
    .groupBy(matching.value)
    .prepare('activity_summary')
    .execute({ offset: 0 });
  return { summaries, isComplete: ids.length === listed.length };
}

interface ListedSegment {
  id: string;
  eventCount: number;
}

function takeSegments(listed: readonly ListedSegment[], eventsMax: number): string[] {
  let events = 0;
  const end = listed.findIndex(({ eventCount }, place) => {
    const isFull = place === segmentsMax || events >= eventsMax;
    events += eventCount;
    return isFull;
  });
  return listed.slice(0, end === -1 ? undefined : end).map(({ id }) => id);
}

/** The newest segments that may have an event with one of the values. */
async function listSegments(
  database: Database,
  spaceId: string,
  { column, values, range }: Pick<SummaryQuery, 'column' | 'values' | 'range'>,
): Promise<ListedSegment[]> {
  const { id, maxStartMs, minStartMs, eventCount } = segments;
  const candidates = database.$with('candidates').as(
    database
      .select({ id, maxStartMs, eventCount })
      .from(segments)
      .where(
        and(
          eq(segments.spaceId, spaceId),
          overlaps([
            ...values.flatMap((value) => termsOf(spaceId, { [column]: value })),
            ...inSpace(spaceId, [anyTerm]),
          ]),
          range.from === undefined ? undefined : gte(maxStartMs, range.from),
          range.to === undefined ? undefined : lt(minStartMs, range.to),
        ),
      )
      .limit(sortedSegmentsMax),
  );
  return await database
    .with(candidates)
    .select({ id: candidates.id, eventCount: candidates.eventCount })
    .from(candidates)
    .orderBy(desc(candidates.maxStartMs))
    .limit(segmentsMax + 1);
}

/** Sums with the same bounds as the statistics: a client may report any finite number of tokens. */
function sumTokens(column: SQLWrapper): SQL<number> {
  const bound = sql.raw(String(addedNumberMax));
  // greatest() and least() ignore a NULL.
  const added = sql`sum(least(greatest(${column}, -${bound}), ${bound})) FILTER (WHERE ${column} IS NOT NULL)`;
  return sql<number>`coalesce(${added}, 0)`;
}

/** Segments with at least one of the terms. */
function overlaps(terms: readonly bigint[]): SQL {
  return sql`${segments.terms} && ${`{${terms.join(',')}}`}::bigint[]`;
}
