import type { Database } from '../../../lib/db/database.ts';
import { type EventCursor, formatEventCursor } from '../../../lib/read/event-cursor.ts';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { readEventPage } from '../../../lib/read/event-page.ts';
import { type ListedEvent, listedColumns, showEvent } from './listed-event.ts';

export interface EventListQuery extends EventFilter {
  limit: number;
  cursor?: EventCursor | undefined;
}

export interface EventList {
  events: ListedEvent[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
  /**
   * Null for a complete page. A page with fewer events than requested, or none, is incomplete where searching on would
   * take long: all matching events that start later than this are shown, in milliseconds since the epoch. The search goes
   * on at `nextCursor`.
   */
  searchedUntilMs: number | null;
}

/**
 * One page of a space's events, newest start first. Following `nextCursor` shows every event that was there at the
 * beginning exactly once.
 */
export async function listEvents(
  database: Database,
  spaceId: string,
  { cursor, limit, ...filter }: EventListQuery,
): Promise<EventList> {
  const page = await readEventPage(database, spaceId, listedColumns, { filter, after: cursor, limit });
  return {
    events: page.rows.map(showEvent),
    nextCursor: page.next === undefined ? null : formatEventCursor(page.next),
    searchedUntilMs: page.isComplete ? null : (page.next?.startTimeMs ?? null),
  };
}
