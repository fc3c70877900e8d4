import { and, eq, or, sql } from 'drizzle-orm';
import { events } from '../db/schema.ts';
import { opaqueLimit } from '../db/statement.ts';
import type { EventCursor } from './event-cursor.ts';
import { matchTime, matchValues } from './event-filter.ts';
import { isAfter, newestFirst, placeIn } from './event-position.ts';
import {
  type EventColumns,
  type EventRow,
  type EventSource,
  type FoundEvents,
  rowsOf,
} from './event-rows.ts';

/** The events after a position within the time range of the filter, ignoring its other conditions. */
export async function selectEvents<Columns extends EventColumns>(
  { database, spaceId, columns, filter }: EventSource<Columns>,
  after: EventCursor | undefined,
  rowsMax: number,
): Promise<EventRow<Columns>[]> {
  const rows = await database
    .select<EventColumns>(columns)
    .from(events)
    .where(and(eq(events.spaceId, spaceId), matchTime(filter), isAfter(after)))
    .orderBy(...newestFirst())
    .limit(opaqueLimit(rowsMax))
    .prepare('event_list')
    .execute();
  return rowsOf(rows);
}

/** Examines at most `eventsMax` events in list order until `rowsMax` match. Fast for frequent values. */
export async function walkEvents<Columns extends EventColumns>(
  { database, spaceId, columns, filter }: EventSource<Columns>,
  after: EventCursor | undefined,
  { rowsMax, eventsMax }: { rowsMax: number; eventsMax: number },
): Promise<FoundEvents<EventRow<Columns>>> {
  const [start, id] = [sql`${events.startTimeMs}`, sql`${events.id}`];
  const walked = database
    .select({
      ...(columns as EventColumns),
      matches: sql<boolean>`coalesce(${matchValues(filter)}, false)`.as('matches'),
      place: placeIn(newestFirst(start, id)),
    })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), matchTime(filter), isAfter(after)))
    .orderBy(...newestFirst())
    .limit(opaqueLimit(eventsMax))
    .as('walked');
  const rows = await database
    .select()
    .from(walked)
    // The last examined event is returned as well: it is where the walk ended.
    .where(or(walked.matches, eq(walked.place, eventsMax)))
    .orderBy(...newestFirst(sql`${walked.startTimeMs}`, sql`${walked.id}`))
    .limit(opaqueLimit(rowsMax + 1))
    .prepare('event_walk')
    .execute();
  const matching = rows.filter((row) => row.matches).slice(0, rowsMax);
  const last = rows.find((row) => row.place === eventsMax);
  const end = matching.length === rowsMax ? matching.at(-1) : last;
  return {
    rows: rowsOf(matching.map(({ matches: _matches, place: _place, ...row }) => row)),
    end: end && { startTimeMs: end.startTimeMs, id: end.id },
  };
}
