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
  const items: Activity[] = [];
  const seen = new Set<string>();
  let areCountsComplete = true;
  let position = cursor;
  let isEnd = false;
  let walks = 0;
  while (!isEnd && items.length < limit && walks < activityWalksMax) {
    const values: string[] = [];
    const missing = limit - items.length;
    // All values are counted together: that takes longer than finding them.
    while (!isEnd && values.length < missing && walks < activityWalksMax) {
      const walk = await walkValues(database, spaceId, {
        ...{ column, range, after: position, seen, valuesMax: missing - values.length },
        eventsMax: activityFirstWalkEvents * 2 ** walks++,
      });
      for (const value of walk.values) seen.add(value);
      values.push(...walk.values);
      position = walk.end ?? position;
      isEnd = walk.end === undefined;
    }
    const found = await summarizeActivity(database, spaceId, {
      ...{ column, values, range, position: cursor },
      eventsMax: activityCountedEvents,
    });
    areCountsComplete &&= found.isComplete;
    const byValue = new Map(found.summaries.map((summary) => [summary.value, summary]));
    for (const value of values) {
      const summary = byValue.get(value);
      // What was active before the cursor was on a page before.
      if (summary !== undefined && !summary.isShown) items.push(toActivity(summary));
    }
  }
  const next = isEnd ? undefined : position;
  return { items, nextCursor: next === undefined ? null : formatEventCursor(next), areCountsComplete };
}

function toActivity({ value, isShown: _isShown, ...summary }: ActivitySummary): Activity {
  return { id: value, ...summary };
}
