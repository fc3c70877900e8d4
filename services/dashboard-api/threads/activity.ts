import { z } from 'zod';
import type { Database } from '../../../lib/db/database.ts';
import { events } from '../../../lib/db/schema.ts';
import {
  type ActivityColumn,
  type ActivitySummary,
  summarizeActivity,
} from '../../../lib/read/activity-summary.ts';
import { type EventCursor, formatEventCursor } from '../../../lib/read/event-cursor.ts';
import { listLimits } from '../../../lib/read/limits.ts';
import { selectEvents } from '../../../lib/read/time-walk.ts';
import { activitySegmentsMax, activityWalkEvents, activityWalksMax } from '../limits.ts';

export interface ActivityQuery {
  from?: number | undefined;
  to?: number | undefined;
  cursor?: EventCursor | undefined;
  limit: number;
}

/** A thread, or a user, with its events in the range of time. */
const activity = z
  .object({
    id: z.string(),
    events: z.number(),
    errors: z.number(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    firstStartMs: z.number(),
    lastStartMs: z.number(),
  } satisfies Record<'id' | Exclude<keyof ActivitySummary, 'value' | 'isShown'>, z.ZodType>)
  .meta({ id: 'Activity' });
export type Activity = z.infer<typeof activity>;

export const activityList = z
  .object({
    /** The one that was active last comes first. */
    items: z.array(activity),
    /** Where the next page begins; null at the end. A page may have fewer items than asked for before the end. */
    nextCursor: z.string().nullable(),
    /** False when some counts are lower bounds, since their events are in too many requests. */
    areCountsComplete: z.boolean(),
  })
  .meta({ id: 'ActivityList' });
export type ActivityList = z.infer<typeof activityList>;

/** A page of threads or users, newest activity first. Following `nextCursor` shows each that was there at the beginning. */
export async function listActivity(
  database: Database,
  spaceId: string,
  { column, query: { from, to, cursor, limit } }: { column: ActivityColumn; query: ActivityQuery },
): Promise<ActivityList> {
  const range = { from, to };
  const columns = { id: events.id, startTimeMs: events.startTimeMs, value: events[column] };
  const source = { database, spaceId, columns, filter: range, limits: listLimits };
  const items: Activity[] = [];
  const seen = new Set<string>();
  let areCountsComplete = true;
  let position = cursor;
  for (let walk = 0; walk < activityWalksMax && items.length < limit; walk++) {
    const rows = await selectEvents(source, position, activityWalkEvents);
    const { values, consumed } = takeValues(rows, seen, limit - items.length);
    const found = await summarizeActivity(database, spaceId, {
      ...{ column, values, range, position: cursor },
      segmentsMax: activitySegmentsMax,
    });
    areCountsComplete &&= found.isComplete;
    const byValue = new Map(found.summaries.map((summary) => [summary.value, summary]));
    for (const value of values) {
      const summary = byValue.get(value);
      // What was active before the cursor was on a page before.
      if (summary !== undefined && !summary.isShown) items.push(toActivity(summary));
    }
    const last = rows[consumed - 1];
    if (consumed === rows.length && rows.length < activityWalkEvents) {
      return { items, nextCursor: null, areCountsComplete };
    }
    if (last !== undefined) position = { startTimeMs: last.startTimeMs, id: last.id };
  }
  return {
    items,
    nextCursor: position === undefined ? null : formatEventCursor(position),
    areCountsComplete,
  };
}

/** The first values that are new, and how many rows it took to find them. */
function takeValues(
  rows: readonly { value: string | null }[],
  seen: Set<string>,
  valuesMax: number,
): { values: string[]; consumed: number } {
  const values: string[] = [];
  for (const [place, { value }] of rows.entries()) {
    if (value === null || seen.has(value)) continue;
    seen.add(value);
    if (values.push(value) === valuesMax) return { values, consumed: place + 1 };
  }
  return { values, consumed: rows.length };
}

function toActivity({ value, isShown: _isShown, ...summary }: ActivitySummary): Activity {
  return { id: value, ...summary };
}
