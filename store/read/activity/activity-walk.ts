import { and, asc, eq, isNotNull, min, or, type SQL, sql } from 'drizzle-orm';
import { pick } from '../../../platform/pick.ts';
import type { Database } from '../../db/database.ts';
import { events } from '../../db/schema.ts';
import { opaqueLimit } from '../../db/statement.ts';
import type { EventCursor } from '../event-cursor.ts';
import { type EventFilter, matchTime } from '../event-filter.ts';
import { isAfter, newestFirst, placeIn } from '../event-position.ts';
import type { ActivityColumn } from './activity-segments.ts';

export interface ActivityWalkQuery {
  column: ActivityColumn;
  range: Pick<EventFilter, 'from' | 'to'>;
  /** The values of other events are ignored. */
  match: SQL | undefined;
  /** The last event examined by earlier pages; undefined for the first page. */
  after: EventCursor | undefined;
  /** Values that earlier pages found. */
  seen: ReadonlySet<string>;
  valuesMax: number;
  eventsMax: number;
}

export interface ActivityWalk {
  /** New values, ordered by their first events in the list. */
  values: string[];
  /** The last event that was examined; undefined at the end of the list. */
  end: EventCursor | undefined;
}

/** Examines events in list order and collects values of a column until enough new ones are found. */
export async function walkValues(
  database: Database,
  spaceId: string,
  query: ActivityWalkQuery,
): Promise<ActivityWalk> {
  const { seen, valuesMax, eventsMax } = query;
  const walked = selectWalked(database, spaceId, query);
  // Grouped in Postgres: sending thousands of rows would take longer than examining them.
  const firsts = database.$with('firsts').as(
    database
      .select({ first: min(walked.place).as('first') })
      .from(walked)
      .where(isNotNull(walked.value))
      .groupBy(walked.value)
      .orderBy(asc(sql`first`))
      .limit(valuesMax + seen.size),
  );
  const isFirst = sql<boolean>`${walked.place} IN (SELECT first FROM ${firsts})`;
  const rows = await database
    .with(walked, firsts)
    .select({ ...pick(walked, 'id', 'startTimeMs', 'value', 'place'), isFirst })
    .from(walked)
    .where(or(isFirst, eq(walked.place, eventsMax)))
    .orderBy(asc(walked.place))
    .prepare('activity_walk')
    .execute();
  const values: string[] = [];
  for (const { id, startTimeMs, value, place, isFirst } of rows) {
    const isFull = isFirst && value !== null && !seen.has(value) && values.push(value) === valuesMax;
    if (isFull || place === eventsMax) return { values, end: { id, startTimeMs } };
  }
  return { values, end: undefined };
}

/** The events after a position with their values, as the CTE `walked`. */
function selectWalked(
  database: Database,
  spaceId: string,
  { column, range, match, after, eventsMax }: ActivityWalkQuery,
) {
  const [start, id] = [sql`${events.startTimeMs}`, sql`${events.id}`];
  return database.$with('walked').as(
    database
      .select({
        ...pick(events, 'id', 'startTimeMs'),
        // Not a condition of the statement, which would examine more than `eventsMax` events.
        value: sql<string | null>`${
          match === undefined ? events[column] : sql`CASE WHEN ${match} THEN ${events[column]} END`
        }`.as('value'),
        place: placeIn(newestFirst(start, id)),
      })
      .from(events)
      .where(and(eq(events.spaceId, spaceId), matchTime(range), isAfter(after)))
      .orderBy(...newestFirst())
      .limit(opaqueLimit(eventsMax)),
  );
}
