import { and, desc, eq, gte, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { addedNumberMax } from '../../../event/limits.ts';
import { anyTerm, inSpace } from '../../../event/terms.ts';
import { quoteElement } from '../../../event/text.ts';
import { sumParts, type UsageParts } from '../../../event/usage/usage-parts.ts';
import type { Database } from '../../db/database.ts';
import { events, segments } from '../../db/schema.ts';
import { opaqueArray } from '../../db/statement.ts';
import type { EventCursor } from '../event-cursor.ts';
import { type EventFilter, matchTime, termsOf } from '../event-filter.ts';
import { compareEvents, isAfter, newestFirst, oldestFirst, startInSegment } from '../event-position.ts';

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
  /** The input preview of the first call of a model; null without one. */
  firstInput: string | null;
  lastState: 'ok' | 'error';
  userId: string | null;
  /** The calls of each model by UTC day and price class, since prices change by day. */
  calls: DayCalls[];
  /** Whether a matching event is at or before `position`: an earlier page has already shown the value. */
  isShown: boolean;
}

/** The tokens of a model's calls on a UTC day under the same conditions. Input tokens include cached ones. */
export interface DayCalls {
  /** Null for calls without the name of a model. */
  model: string | null;
  events: number;
  atMs: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** The conditions of the calls, their usage with prices of its own, and the reported cost. */
  priceClass: string | null;
  usageParts: UsageParts | null;
  reportedCost: string | null;
}

export interface SummaryQuery {
  column: ActivityColumn;
  values: readonly string[];
  range: Pick<EventFilter, 'from' | 'to'>;
  /** Which events `isShown` regards. */
  match?: SQL | undefined;
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
        id: events.id,
        type: events.type,
        name: events.name,
        state: events.state,
        userId: events.userId,
        inputTokens: events.inputTokens,
        outputTokens: events.outputTokens,
        cacheReadTokens: events.cacheReadTokens,
        cacheWriteTokens: events.cacheWriteTokens,
        priceClass: events.priceClass,
        usageParts: events.usageParts,
        reportedCost: events.reportedCost,
        startTimeMs: events.startTimeMs,
        inputPreview: events.inputPreview,
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

/** The parts of the usage of each event; null without any. */
export function listParts(column: SQLWrapper): SQL<UsageParts[] | null> {
  return sql<UsageParts[] | null>`json_agg(${column}) FILTER (WHERE ${column} IS NOT NULL)`;
}

/** Sums with the same bounds as the statistics: a client may report any finite number of tokens. */
function sumTokens(column: SQLWrapper): SQL<number> {
  const bound = sql.raw(String(addedNumberMax));
  // greatest() and least() ignore a NULL.
  const added = sql`sum(least(greatest(${column}, -${bound}), ${bound})) FILTER (WHERE ${column} IS NOT NULL)`;
  return sql<number>`coalesce(${added}, 0)`;
}

function overlaps(terms: readonly bigint[]): SQL {
  return sql`${segments.terms} && ${`{${terms.join(',')}}`}::bigint[]`;
}
