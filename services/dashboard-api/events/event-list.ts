import { z } from 'zod';
import { type EventCursor, formatEventCursor } from '../../../store/read/event-cursor.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { completeFilter } from '../charts/cost-rates.ts';
import type { SpaceRows } from '../space-data.ts';
import { columnsFor, eventRow, showRows } from './event-row.ts';

export interface EventListQuery extends EventFilter {
  limit: number;
  cursor?: EventCursor | undefined;
  /** Attributes whose values are shown. */
  attributeKeys?: readonly string[] | undefined;
}

export const eventList = z
  .object({
    events: z.array(eventRow),
    /** Start of the next page; null at the end. */
    nextCursor: z.string().nullable(),
    /**
     * Null for a complete page. One with fewer events than requested has all that start later than this time
     * (milliseconds since the epoch): further search would take long, and continues at `nextCursor`.
     */
    searchedUntilMs: z.number().nullable(),
  })
  .meta({ id: 'EventList' });
export type EventList = z.infer<typeof eventList>;

/** A page, newest start first. Following `nextCursor` shows every event that existed at the start once. */
export async function listEvents(
  space: SpaceRows,
  { cursor, limit, attributeKeys = [], ...asked }: EventListQuery,
): Promise<EventList> {
  const { database, spaceId } = space;
  const filter = await completeFilter(space, asked);
  const page = await readEventPage(database, spaceId, {
    columns: columnsFor(attributeKeys),
    filter,
    after: cursor,
    limit,
  });
  return {
    events: await showRows(space, page.rows, attributeKeys),
    nextCursor: page.next === undefined ? null : formatEventCursor(page.next),
    searchedUntilMs: page.isComplete ? null : (page.next?.startTimeMs ?? null),
  };
}
