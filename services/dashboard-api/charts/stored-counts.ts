import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '../../../store/db/database.ts';
import { erasures, events } from '../../../store/db/schema.ts';
import { type EventFilter, matchTime, matchValues } from '../../../store/read/event-filter.ts';
import { oldestFirst } from '../../../store/read/event-position.ts';
import { histogramExaminedMax } from '../limits.ts';

export const histogramBucket = z
  .object({
    startMs: z.number(),
    events: z.number(),
    errors: z.number(),
    /** From the share of matching events among the bucket's newest events. */
    isEstimate: z.boolean(),
  })
  .meta({ id: 'HistogramBucket' });
export type HistogramBucket = z.infer<typeof histogramBucket>;

interface TimeRange {
  from: number;
  to: number;
}

export function emptyBuckets({ from, to }: TimeRange, bucketMs: number): HistogramBucket[] {
  return Array.from({ length: Math.round((to - from) / bucketMs) }, (_, place) => {
    return { startMs: from + place * bucketMs, events: 0, errors: 0, isEstimate: false };
  });
}

/** Whether counted events are stored no more: statistics stay after an erasure, and after the retention. */
export async function areSomeGone(
  database: Database,
  spaceId: string,
  { counted, range }: { counted: readonly HistogramBucket[]; range: EventFilter & TimeRange },
): Promise<boolean> {
  const erased = await database
    .select({ id: erasures.id })
    .from(erasures)
    .where(eq(erasures.spaceId, spaceId))
    .limit(1);
  if (erased.length > 0) return true;
  // The oldest expire first.
  const [first] = await database
    .select({ startTimeMs: events.startTimeMs })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), matchTime({ from: range.from, to: range.to })))
    .orderBy(...oldestFirst())
    .limit(1);
  const oldest = counted.find((bucket) => bucket.events > 0);
  const next = counted.find(({ startMs }) => startMs > (oldest?.startMs ?? range.to));
  return oldest !== undefined && (first === undefined || first.startTimeMs >= (next?.startMs ?? range.to));
}

/** @returns undefined when counting takes too long. */
export async function countStored(
  database: Database,
  spaceId: string,
  { range, bucketMs }: { range: EventFilter & TimeRange; bucketMs: number },
): Promise<HistogramBucket[] | undefined> {
  const inRange = and(eq(events.spaceId, spaceId), matchTime(range));
  const [stored] = await database.execute<{ isMore: boolean }>(sql`
    SELECT EXISTS (SELECT FROM ${events} WHERE ${inRange} OFFSET ${histogramExaminedMax}) AS "isMore"`);
  if (stored?.isMore !== false) return undefined;
  const bucket = sql<number>`floor((${events.startTimeMs} - ${range.from}::float8) / ${bucketMs}::float8)::integer`;
  const rows = await database
    .select({
      bucket,
      events: sql<number>`count(*)::integer`,
      errors: sql<number>`(count(*) FILTER (WHERE ${events.state} = 'error'))::integer`,
    })
    .from(events)
    .where(and(inRange, matchValues(range)))
    .groupBy(sql`1`);
  const buckets = emptyBuckets(range, bucketMs);
  for (const row of rows)
    Object.assign(buckets[row.bucket] ?? {}, { events: row.events, errors: row.errors });
  return buckets;
}
