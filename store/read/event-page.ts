import type { Database } from '../db/database.ts';
import type { SegmentWalk } from './candidate-segments.ts';
import type { EventCursor } from './event-cursor.ts';
import { type EventFilter, matchValues, termsOf } from './event-filter.ts';
import type { EventColumns, EventRow, EventSource, FoundEvents } from './event-rows.ts';
import { type ListLimits, listLimits } from './limits.ts';
import { choosePlan, type PageFacts } from './page-plan.ts';
import {
  listFewSegments,
  listSegments,
  readSegments,
  type SegmentRead,
  type SegmentReads,
  type SegmentSearch,
  walkNewestSegments,
  walkSegmentReads,
} from './segment-reads.ts';
import { selectEvents, walkEvents } from './time-walk.ts';

export interface EventPageQuery {
  filter: EventFilter;
  /** End of the previous page; undefined for the first page. */
  after: EventCursor | undefined;
  limit: number;
}

export interface EventPage<Row> {
  rows: Row[];
  /** Start of the next page; undefined at the end of the list. */
  next: EventCursor | undefined;
  /** Whether the page has `limit` rows or all remaining ones. If false, the search continues after `next`. */
  isComplete: boolean;
}

/**
 * Reads one page of a space's events: newest start first, ids ascending where starts are equal. Consecutive
 * pages show every matching event that existed when the first page was read exactly once.
 *
 * The work per page is bounded whatever the filter: a page before the end may be incomplete or even empty
 * (ADR 0018).
 */
export async function readEventPage<Columns extends EventColumns>(
  database: Database,
  spaceId: string,
  query: EventPageQuery & { columns: Columns; limits?: ListLimits },
): Promise<EventPage<EventRow<Columns>>> {
  const { columns, filter, after, limit, limits = listLimits } = query;
  const source = { database, spaceId, columns, filter, limits };
  // One extra row shows whether there is a next page.
  const { rows, end } = await findEvents(source, after, limit + 1);
  const last = rows[limit - 1];
  if (rows.length <= limit || last === undefined) return { rows, next: end, isComplete: end === undefined };
  const next = { startTimeMs: last.startTimeMs, id: last.id };
  return { rows: rows.slice(0, limit), next, isComplete: true };
}

/** Follows one plan after another (page-plan.ts) until the page is full, or ends. */
async function findEvents<Columns extends EventColumns>(
  source: EventSource<Columns>,
  after: EventCursor | undefined,
  wanted: number,
): Promise<FoundEvents<EventRow<Columns>>> {
  const { limits } = source;
  const terms = termsOf(source.spaceId, source.filter);
  const rows: EventRow<Columns>[] = [];
  let end = after;
  let known = factsAtStart(source.filter, terms.length);
  for (;;) {
    const search = { terms, after: end, rowsMax: wanted - rows.length };
    const mayEndEarly = search.rowsMax >= limits.enoughRows;
    const plan = choosePlan({ ...known, mayEndEarly, hasEnough: rows.length >= limits.enoughRows });
    if (plan === 'end') return { rows, end };
    if (plan === 'allInOrder') return { rows: await selectEvents(source, after, wanted), end: undefined };
    if (plan === 'newestEvents' || plan === 'moreEvents') {
      const isFirst = plan === 'newestEvents';
      const eventsMax = isFirst ? limits.firstWalkEvents : limits.walkedEvents - limits.firstWalkEvents;
      const walk = await walkEvents(source, end, { rowsMax: search.rowsMax, eventsMax });
      rows.push(...walk.rows);
      end = walk.end;
      if (end === undefined || rows.length === wanted) return { rows, end };
      known = { ...known, examined: isFirst ? 'newest' : 'more' };
      continue;
    }
    const reads = await findSegments(source, search, plan);
    if (reads !== undefined) {
      const found = await readSegments(source, search, reads);
      return { rows: [...rows, ...found.rows], end: found.end };
    }
    known = plan === 'fewSegments' ? { ...known, hasManySegments: true } : { ...known, isLate: true };
  }
}

/** @returns undefined when there are too many segments, or the newest are all too new for the page. */
async function findSegments<Columns extends EventColumns>(
  source: EventSource<Columns>,
  search: SegmentSearch,
  plan: 'fewSegments' | 'segmentsInOrder' | 'listedSegments',
): Promise<SegmentReads | undefined> {
  if (plan === 'fewSegments') return listFewSegments(source, search);
  if (plan === 'listedSegments') return listSegments(source, search);
  const newest = await walkNewestSegments(source, search);
  return newest && walkThenList(source, search, newest);
}

async function* walkThenList<Columns extends EventColumns>(
  source: EventSource<Columns>,
  search: SegmentSearch,
  newest: SegmentWalk,
): AsyncGenerator<SegmentRead> {
  const walked = yield* walkSegmentReads(source, search, newest);
  if (walked !== undefined) yield* listSegments(source, search, walked);
}

function factsAtStart(filter: EventFilter, terms: number): Omit<PageFacts, 'mayEndEarly' | 'hasEnough'> {
  const { traceId, threadId, userId } = filter;
  const noted = filter.noted?.segments.length ?? 0;
  return {
    hasConditions: matchValues(filter) !== undefined,
    terms: terms + noted,
    isUsuallyRare: traceId !== undefined || threadId !== undefined || userId !== undefined || noted > 0,
    examined: 'none',
    hasManySegments: false,
    isLate: false,
  };
}
