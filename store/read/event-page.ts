import type { Database } from '../db/database.ts';
import type { EventCursor } from './event-cursor.ts';
import { type EventFilter, matchValues, termsOf } from './event-filter.ts';
import type { EventColumns, EventRow } from './event-rows.ts';
import { type ListLimits, listLimits } from './limits.ts';
import { findInFewSegments, findInSegments } from './segment-search.ts';
import { selectEvents, walkEvents } from './time-walk.ts';

export interface EventPageQuery {
  filter: EventFilter;
  /** End of the previous page; undefined for the first page. */
  after: EventCursor | undefined;
  /** Limit of the rows. */
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
 * Reads one page of a space's events: newest start first, ids ascending where starts are equal. Consecutive pages show every
 * matching event that existed when the first page was read exactly once.
 *
 * The work per page is bounded whatever the filter: a page before the end may be incomplete or even empty (ADR 0018).
 */
export async function readEventPage<Columns extends EventColumns>(
  database: Database,
  spaceId: string,
  columns: Columns,
  { filter, after, limit }: EventPageQuery,
  limits: ListLimits = listLimits,
): Promise<EventPage<EventRow<Columns>>> {
  const source = { database, spaceId, columns, filter, limits };
  // One extra row shows whether there is a next page.
  const wanted = limit + 1;
  if (matchValues(filter) === undefined) return toPage(await selectEvents(source, after, wanted), limit);
  const terms = termsOf(spaceId, filter);
  const isNarrow = isUsuallyRare(filter);
  if (isNarrow) {
    const found = await findInFewSegments(source, { terms, after, rowsMax: wanted });
    if (found !== undefined) return toPage(found.rows, limit, found.end);
  }
  const walk = await walkEvents(source, after, { rowsMax: wanted, eventsMax: limits.firstWalkEvents });
  if (walk.end === undefined || walk.rows.length === wanted) return toPage(walk.rows, limit);
  const rest = { after: walk.end, rowsMax: wanted - walk.rows.length };
  const found =
    terms.length > 0 && walk.rows.length < limits.enoughRows
      ? ((isNarrow ? undefined : await findInFewSegments(source, { ...rest, terms })) ??
        (await findInSegments(source, { ...rest, terms })))
      : await walkEvents(source, rest.after, {
          rowsMax: rest.rowsMax,
          eventsMax: limits.walkedEvents - limits.firstWalkEvents,
        });
  return toPage([...walk.rows, ...found.rows], limit, found.end);
}

/** Most traces, threads and users have few events, so scanning the newest events of the space would rarely find them. */
function isUsuallyRare({ traceId, threadId, userId }: EventFilter): boolean {
  return traceId !== undefined || threadId !== undefined || userId !== undefined;
}

function toPage<Row extends EventCursor>(rows: Row[], limit: number, end?: EventCursor): EventPage<Row> {
  const last = rows[limit - 1];
  if (rows.length > limit && last !== undefined) {
    return {
      rows: rows.slice(0, limit),
      next: { startTimeMs: last.startTimeMs, id: last.id },
      isComplete: true,
    };
  }
  return { rows, next: end, isComplete: end === undefined };
}
