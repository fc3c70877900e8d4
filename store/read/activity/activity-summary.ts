import { and, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { addedNumberMax } from '../../../event/limits.ts';
import { quoteElement } from '../../../event/text.ts';
import { sumParts, type UsageParts } from '../../../event/usage/usage-parts.ts';
import { pick } from '../../../platform/pick.ts';
import type { Database } from '../../db/database.ts';
import { events } from '../../db/schema.ts';
import { opaqueArray } from '../../db/statement.ts';
import type { Usage } from '../../prices/cost-sum.ts';
import type { EventCursor } from '../event-cursor.ts';
import { matchTime } from '../event-filter.ts';
import { compareEvents, isAfter, newestFirst, oldestFirst, startInSegment } from '../event-position.ts';
import { listSegments, type SegmentQuery, takeSegments } from './activity-segments.ts';

export interface ActivitySummary {
  value: string;
  events: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  firstStartMs: number;
  lastStartMs: number;
  /** The input preview of the first call of a model; null without one. */
  firstInput: string | null;
  lastState: 'ok' | 'error';
  /** The user of the last event that has one. */
  userId: string | null;
  /** The calls of each model by UTC day and price class, since prices change by day. */
  calls: DayCalls[];
  /** Whether a matching event is at or before `position`: an earlier page has already shown the value. */
  isShown: boolean;
}

/** The tokens of a model's calls on a UTC day under the same conditions. Input tokens include cached ones. */
export interface DayCalls extends Usage {
  /** Null for calls without the name of a model. */
  model: string | null;
  events: number;
  errors: number;
  /** The start of one of the calls. */
  atMs: number;
}

export interface SummaryQuery extends SegmentQuery {
  /** Which events `isShown` regards. */
  match?: SQL | undefined;
  /** The last event that earlier pages examined; undefined for the first page. */
  position: EventCursor | undefined;
  /** Limit of the events in the segments that are read; the last segment may exceed it. */
  eventsMax: number;
}

/**
 * Counts the events of each value, in the segments that have one of the values.
 * @returns `isComplete` is false when they have more than `eventsMax` events: then only the newest segments
 * are counted.
 */
export async function summarizeActivity(
  database: Database,
  spaceId: string,
  query: SummaryQuery,
): Promise<{ summaries: ActivitySummary[]; isComplete: boolean }> {
  if (query.values.length === 0) return { summaries: [], isComplete: true };
  const listed = await listSegments(database, spaceId, query);
  const ids = takeSegments(listed, query.eventsMax);
  const rows = await addUpParts(database, ids, selectMatching(database, spaceId, query));
  const summaries = [...Map.groupBy(rows, (row) => row.value).values()].map(addUp);
  return { summaries, isComplete: ids.length === listed.length };
}

/** The events of one segment, `candidate.id`, that have one of the values. */
function selectMatching(
  database: Database,
  spaceId: string,
  { column, values, range, match, position }: SummaryQuery,
) {
  const key = events[column];
  const wanted = sql`${`{${values.map(quoteElement).join(',')}}`}::text[]`;
  const isShown =
    position === undefined
      ? sql`false`
      : sql`coalesce(NOT (${isAfter(position)}) AND ${match ?? sql`true`}, false)`;
  return (
    database
      .select({
        value: sql<string>`${key}`.as('value'),
        ...pick(events, 'id', 'type', 'name', 'state', 'userId', 'inputTokens', 'outputTokens'),
        ...pick(events, 'cacheReadTokens', 'cacheWriteTokens', 'priceClass', 'usageParts', 'reportedCost'),
        ...pick(events, 'startTimeMs', 'inputPreview'),
        isShown: sql<boolean>`${isShown}`.as('is_shown'),
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
      .as('matching')
  );
}

/** Adds up the events of the segments in Postgres, by value, type, name, price class and UTC day. */
async function addUpParts(
  database: Database,
  segmentIds: readonly string[],
  matching: ReturnType<typeof selectMatching>,
): Promise<Part[]> {
  const { type, name, startTimeMs, id, userId } = matching;
  const first = sql.join(oldestFirst(startTimeMs, id), sql`, `);
  const last = sql.join(newestFirst(startTimeMs, id), sql`, `);
  const hasUser = sql`FILTER (WHERE ${userId} IS NOT NULL)`;
  return await database
    .select({
      value: matching.value,
      type,
      name,
      events: sql<number>`count(*)::integer`,
      errors: sql<number>`(count(*) FILTER (WHERE ${matching.state} = 'error'))::integer`,
      inputTokens: sumTokens(matching.inputTokens),
      outputTokens: sumTokens(matching.outputTokens),
      cacheReadTokens: sumTokens(matching.cacheReadTokens),
      cacheWriteTokens: sumTokens(matching.cacheWriteTokens),
      priceClass: matching.priceClass,
      usageParts: listParts(matching.usageParts),
      reportedCost: sql<string | null>`sum(${matching.reportedCost})::text`,
      firstStartMs: sql<number>`min(${startTimeMs})`,
      lastStartMs: sql<number>`max(${startTimeMs})`,
      firstInput: sql<string | null>`(array_agg(${matching.inputPreview} ORDER BY ${first}))[1]`,
      firstId: sql<string>`(array_agg(${id} ORDER BY ${first}))[1]`,
      lastState: sql<'ok' | 'error'>`(array_agg(${matching.state} ORDER BY ${last}))[1]`,
      lastId: sql<string>`(array_agg(${id} ORDER BY ${last}))[1]`,
      userId: sql<string | null>`(array_agg(${userId} ORDER BY ${last}) ${hasUser})[1]`,
      userStartMs: sql<number>`coalesce(max(${startTimeMs}) ${hasUser}, 0)`,
      userEventId: sql<string>`coalesce((array_agg(${id} ORDER BY ${last}) ${hasUser})[1]::text, '')`,
      isShown: sql<boolean>`bool_or(${matching.isShown})`,
    })
    .from(sql`unnest(${opaqueArray(`{${segmentIds.join(',')}}`, 'uuid')}) AS candidate(id)`)
    .crossJoinLateral(matching)
    .groupBy(matching.value, type, name, matching.priceClass, sql`floor(${startTimeMs} / 86400000)`)
    .prepare('activity_summary')
    .execute({ offset: 0 });
}

/** The events of one value, of one type, name and price class and one UTC day. */
type Part = Omit<ActivitySummary, 'calls'> &
  Omit<DayCalls, 'atMs' | 'model' | 'usageParts'> & {
    type: 'llm' | 'tool';
    name: string | null;
    usageParts: UsageParts[] | null;
    /** The first and the last event, and the last one with a user. */
    firstId: string;
    lastId: string;
    userEventId: string;
    userStartMs: number;
  };

function addUp(parts: readonly Part[]): ActivitySummary {
  const newestOf = (pick: (part: Part) => EventCursor) =>
    parts.toSorted((a, b) => compareEvents(pick(a), pick(b)));
  const inTime = newestOf((part) => ({ startTimeMs: part.firstStartMs, id: part.firstId })).reverse();
  const [first] = inTime;
  if (first === undefined) throw new Error('a group has no rows');
  const calls = inTime.filter(({ type }) => type === 'llm');
  const [last = first] = newestOf((part) => ({ startTimeMs: part.lastStartMs, id: part.lastId }));
  const byUser = newestOf((part) => ({ startTimeMs: part.userStartMs, id: part.userEventId }));
  const sum = (pick: (part: Part) => number) => parts.reduce((total, part) => total + pick(part), 0);
  return {
    value: first.value,
    events: sum(({ events }) => events),
    errors: sum(({ errors }) => errors),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    firstStartMs: first.firstStartMs,
    lastStartMs: last.lastStartMs,
    firstInput: calls[0]?.firstInput ?? null,
    lastState: last.lastState,
    userId: byUser.find(({ userId }) => userId !== null)?.userId ?? null,
    calls: calls.map(({ name, firstStartMs, usageParts, ...call }) => ({
      ...call,
      model: name,
      atMs: firstStartMs,
      usageParts: sumParts(usageParts),
    })),
    isShown: parts.some(({ isShown }) => isShown),
  };
}

/** The parts of the usage of each event; null without any. */
export function listParts(column: SQLWrapper): SQL<UsageParts[] | null> {
  return sql<UsageParts[] | null>`json_agg(${column}) FILTER (WHERE ${column} IS NOT NULL)`;
}

/** Sums with the same bounds as the statistics: a client may report any finite number of tokens. */
export function sumTokens(column: SQLWrapper): SQL<number> {
  const bound = sql.raw(String(addedNumberMax));
  // greatest() and least() ignore a NULL: without the filter it would be the lower bound.
  const added = sql`sum(least(greatest(${column}, -${bound}), ${bound})) FILTER (WHERE ${column} IS NOT NULL)`;
  return sql<number>`coalesce(${added}, 0)`;
}
