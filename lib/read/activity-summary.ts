import { and, desc, eq, gte, isNull, lt, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { events, segments } from '../db/schema.ts';
import { addedNumberMax } from '../event/limits.ts';
import { quoteElement } from '../event/text.ts';
import type { EventCursor } from './event-cursor.ts';
import { type EventFilter, matchTime, termsOf } from './event-filter.ts';
import { isAfter } from './event-position.ts';

/** A column whose values have events of many times: a thread, or a user. */
export type ActivityColumn = 'threadId' | 'userId';

export interface ActivitySummary {
  value: string;
  events: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  firstStartMs: number;
  lastStartMs: number;
  /** Whether one of the events is at the position that was asked about, or before it: a page before has shown the value. */
  isShown: boolean;
}

export interface SummaryQuery {
  column: ActivityColumn;
  values: readonly string[];
  range: Pick<EventFilter, 'from' | 'to'>;
  /** The last event that the pages before have looked at; undefined for the first page. */
  position: EventCursor | undefined;
  segmentsMax: number;
}

/** Candidates that are sorted by time to choose the newest of. */
const sortedSegmentsMax = 20_000;

/**
 * Counts the events of each value. They are found by the segments that have one of the values.
 *
 * @returns `isComplete` is false when there are more segments: then the newest are counted.
 */
export async function summarizeActivity(
  database: Database,
  spaceId: string,
  { column, values, range, position, segmentsMax }: SummaryQuery,
): Promise<{ summaries: ActivitySummary[]; isComplete: boolean }> {
  if (values.length === 0) return { summaries: [], isComplete: true };
  const ids = await listSegments(database, spaceId, { column, values, range, segmentsMax: segmentsMax + 1 });
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
        matchTime(range),
        sql`${key} = ANY (${wanted})`,
      ),
    )
    // As in candidate-segments.ts: it keeps Postgres from joining in another order.
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
    .from(sql`unnest(${`{${ids.slice(0, segmentsMax).join(',')}}`}::uuid[]) AS candidate(id)`)
    .crossJoinLateral(matching)
    .groupBy(matching.value)
    .prepare('activity_summary')
    .execute({ offset: 0 });
  return { summaries, isComplete: ids.length <= segmentsMax };
}

/** The newest segments that may have an event with one of the values. */
async function listSegments(
  database: Database,
  spaceId: string,
  { column, values, range, segmentsMax }: Omit<SummaryQuery, 'position'>,
): Promise<string[]> {
  const { id, maxStartMs, minStartMs } = segments;
  const candidates = database.$with('candidates').as(
    database
      .select({ id, maxStartMs })
      .from(segments)
      .where(
        and(
          eq(segments.spaceId, spaceId),
          or(
            overlaps(values.flatMap((value) => termsOf(spaceId, { [column]: value }))),
            isNull(segments.terms),
          ),
          range.from === undefined ? undefined : or(gte(maxStartMs, range.from), isNull(maxStartMs)),
          range.to === undefined ? undefined : or(lt(minStartMs, range.to), isNull(minStartMs)),
        ),
      )
      .limit(sortedSegmentsMax),
  );
  const rows = await database
    .with(candidates)
    .select({ id: candidates.id })
    .from(candidates)
    .orderBy(desc(candidates.maxStartMs))
    .limit(segmentsMax);
  return rows.map((row) => row.id);
}

/** As the statistics add them up: a client may claim any finite number of tokens. */
function sumTokens(column: SQLWrapper): SQL<number> {
  const bound = sql.raw(String(addedNumberMax));
  // greatest() and least() ignore a NULL.
  const added = sql`sum(least(greatest(${column}, -${bound}), ${bound})) FILTER (WHERE ${column} IS NOT NULL)`;
  return sql<number>`coalesce(${added}, 0)`;
}

function overlaps(terms: readonly bigint[]): SQL {
  return sql`${segments.terms} && ${`{${terms.join(',')}}`}::bigint[]`;
}
