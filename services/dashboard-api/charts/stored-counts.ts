import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { minuteMs } from '../../../platform/time.ts';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import { type EventFilter, matchTime, matchValues } from '../../../store/read/event-filter.ts';
import { oldestFirst } from '../../../store/read/event-position.ts';
import type { SpaceRows } from '../space-data.ts';
import { areSomeErased } from './dimension.ts';

/** Events that Postgres counts in some 100 ms, where statistics have more than is stored. */
const histogramExaminedMax = 100_000;

export const histogramBucket = z
  .object({
    startMs: z.number(),
    events: z.number(),
    errors: z.number(),
    /** Estimated from the share of matching events among the bucket's newest events. */
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

/**
 * What is still stored of a range: the minute of the first event, since the oldest expire first, and whether
 * any were erased. Statistics keep counting both, but for those of dimensions, which count no erased events.
 */
export async function findStored(
  { database, spaceId }: SpaceRows,
  { from, to }: TimeRange,
): Promise<{ firstMs: number; areSomeErased: boolean }> {
  const [isSomeErased, [first]] = await Promise.all([
    areSomeErased(database, spaceId),
    database
      .select({ startTimeMs: events.startTimeMs })
      .from(events)
      .where(and(eq(events.spaceId, spaceId), matchTime({ from, to })))
      .orderBy(...oldestFirst())
      .limit(1),
  ]);
  const firstMs = Math.floor((first?.startTimeMs ?? to) / minuteMs) * minuteMs;
  return { firstMs, areSomeErased: isSomeErased };
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
