import { z } from 'zod';
import type { Database } from '../../../lib/db/database.ts';
import {
  type ActivityColumn,
  type ActivitySummary,
  summarizeActivity,
} from '../../../lib/read/activity-summary.ts';
import { walkValues } from '../../../lib/read/activity-walk.ts';
import { type EventCursor, formatEventCursor } from '../../../lib/read/event-cursor.ts';
import { activityCountedEvents, activityFirstWalkEvents, activityWalksMax } from '../limits.ts';

export interface ActivityQuery {
  from?: number | undefined;
  to?: number | undefined;
  cursor?: EventCursor | undefined;
  limit: number;
}

/** A thread or a user with its events in the time range. */
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
    /** Most recently active first. */
    items: z.array(activity),
    /** Start of the next page; null at the end. A page before the end may have fewer items than requested. */
    nextCursor: z.string().nullable(),
    /** False when some counts are lower bounds, because their events are in too many requests. */
    areCountsComplete: z.boolean(),
  })
  .meta({ id: 'ActivityList' });
export type ActivityList = z.infer<typeof activityList>;

/** A page of threads or users, most recent activity first. Following `nextCursor` shows all that existed at the start. */
export async function listActivity(
  database: Database,
  spaceId: string,
  { column, query: { from, to, cursor, limit } }: { column: ActivityColumn; query: ActivityQuery },
): Promise<ActivityList> {
  const range = { from, to };
  const items: Activity[] = [];
  const seen = new Set<string>();
  let areCountsComplete = true;
  let position = cursor;
  let isEnd = false;
  let walks = 0;
  while (!isEnd && items.length < limit && walks < activityWalksMax) {
    const values: string[] = [];
    const missing = limit - items.length;
    // All values are counted in one go, because that takes longer than finding them.
    while (!isEnd && values.length < missing && walks < activityWalksMax) {
      const walk = await walkValues(database, spaceId, {
        column,
        range,
        after: position,
        seen,
        valuesMax: missing - values.length,
        eventsMax: activityFirstWalkEvents * 2 ** walks++,
      });
      for (const value of walk.values) seen.add(value);
      values.push(...walk.values);
      position = walk.end ?? position;
      isEnd = walk.end === undefined;
    }
    const found = await summarizeActivity(database, spaceId, {
      column,
      values,
      range,
      position: cursor,
      eventsMax: activityCountedEvents,
    });
    areCountsComplete &&= found.isComplete;
    const byValue = new Map(found.summaries.map((summary) => [summary.value, summary]));
    for (const value of values) {
      const summary = byValue.get(value);
      // Values that were active before the cursor were on an earlier page.
      if (summary !== undefined && !summary.isShown) items.push(toActivity(summary));
    }
  }
  const next = isEnd ? undefined : position;
  return { items, nextCursor: next === undefined ? null : formatEventCursor(next), areCountsComplete };
}

function toActivity({ value, isShown: _isShown, ...summary }: ActivitySummary): Activity {
  return { id: value, ...summary };
}
