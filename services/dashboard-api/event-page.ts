import type { Sql } from '../../lib/db/connect.ts';
import { cutText, storableText } from '../../lib/event/text.ts';
import { columnCharsMax } from '../../lib/limits.ts';
import { type EventCursor, formatEventCursor } from './event-cursor.ts';
import { eventColumns, type ListedEvent, type StoredEventRow, showEvent } from './event-row.ts';

/** Which events a list shows; what is undefined does not narrow it. */
export interface EventFilter {
  type?: 'llm' | 'tool' | undefined;
  state?: 'ok' | 'error' | undefined;
  /** The model or the tool. */
  name?: string | undefined;
  /** Start times from here on, in milliseconds since the epoch… */
  from?: number | undefined;
  /** … and before here. */
  to?: number | undefined;
  threadId?: string | undefined;
  traceId?: string | undefined;
  userId?: string | undefined;
}

export interface EventQuery extends EventFilter {
  limit: number;
  cursor?: EventCursor | undefined;
}

export interface EventPage {
  events: ListedEvent[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

/**
 * One page of a space's events, newest start first, ids ascending where starts are equal. Following `nextCursor`
 * shows every event that was there at the beginning exactly once.
 */
export async function readEventPage(sql: Sql, spaceId: string, query: EventQuery): Promise<EventPage> {
  // One more than asked for tells whether there is a next page.
  const rows = await selectRows(sql, spaceId, { ...query, limit: query.limit + 1 });
  const events = rows.slice(0, query.limit).map(showEvent);
  const last = rows.length > query.limit ? events.at(-1) : undefined;
  return { events, nextCursor: last === undefined ? null : formatEventCursor(last) };
}

/**
 * NULLS LAST is how the index events_by_start_time is made: without it Postgres sorts the whole space.
 *
 * After a cursor there are two ranges of that index, each read from its beginning. As one condition with OR, neither
 * could be: every page would read again all that was shown before it.
 */
function selectRows(sql: Sql, spaceId: string, { cursor, limit, ...filter }: EventQuery) {
  const columns = eventColumns(sql);
  const matching = sql`SELECT ${columns} FROM events WHERE space_id = ${spaceId} ${conditions(sql, filter)}`;
  if (cursor === undefined) {
    return sql<StoredEventRow[]>`${matching} ORDER BY start_time_ms DESC NULLS LAST, id LIMIT ${limit}`;
  }
  const { startTimeMs, id } = cursor;
  return sql<StoredEventRow[]>`
    (${matching} AND start_time_ms = ${startTimeMs} AND id > ${id} ORDER BY id LIMIT ${limit})
    UNION ALL
    (${matching} AND start_time_ms < ${startTimeMs} ORDER BY start_time_ms DESC NULLS LAST, id LIMIT ${limit})
    ORDER BY "startTimeMs" DESC NULLS LAST, id LIMIT ${limit}`;
}

function conditions(sql: Sql, filter: EventFilter) {
  const { type, state, name, from, to, threadId, traceId, userId } = filter;
  return sql`
    ${from === undefined ? sql`` : sql`AND start_time_ms >= ${from}`}
    ${to === undefined ? sql`` : sql`AND start_time_ms < ${to}`}
    ${type === undefined ? sql`` : sql`AND type = ${type}`}
    ${state === undefined ? sql`` : sql`AND state = ${state}`}
    ${traceId === undefined ? sql`` : sql`AND trace_id = ${traceId}`}
    ${name === undefined ? sql`` : sql`AND name = ${asStored(name)}`}
    ${threadId === undefined ? sql`` : sql`AND thread_id = ${asStored(threadId)}`}
    ${userId === undefined ? sql`` : sql`AND user_id = ${asStored(userId)}`}`;
}

/** A text as its column has it: a longer one would never be found. */
function asStored(text: string): string {
  return storableText(cutText(text, columnCharsMax));
}
