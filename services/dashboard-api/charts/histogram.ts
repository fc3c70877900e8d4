import { and, asc, eq, gte, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { rollupSpansHours } from '../../../event/limits.ts';
import { hourMs, minuteMs } from '../../../platform/time.ts';
import type { Database } from '../../../store/db/database.ts';
import { eventStatsRollups, events, statisticDeltas } from '../../../store/db/schema.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { type SampledSpan, sampleEvents } from '../../../store/read/event-samples.ts';
import { refusal } from '../refusal.ts';
import type { SpaceRows } from '../space-data.ts';
import { completeFilter } from './cost-rates.ts';
import { lookUpDimension, toCountedList } from './dimension.ts';
import { readCells } from './read-cells.ts';
import {
  countStored,
  emptyBuckets,
  findStored,
  type HistogramBucket,
  histogramBucket,
} from './stored-counts.ts';

/** Events that a histogram counts one by one, which takes 15 ms. With more, buckets are estimated. */
const histogramEventsMax = 5_000;

/** Newest events of a bucket from whose share of matches the bucket is estimated. */
const histogramSampleEvents = 100;

export const histogram = z
  .object({
    /** Milliseconds of a bucket, whole minutes. Buckets start at multiples of it in UTC. */
    bucketMs: z.number(),
    /** Buckets from that of `from` to that of `to`: both may include events outside of the range. */
    buckets: z.array(histogramBucket),
    /** `statistics` and `events` are exact; with `estimate` some buckets are estimated. */
    method: z.enum(['statistics', 'events', 'estimate']),
  })
  .meta({ id: 'Histogram' });
export type Histogram = z.infer<typeof histogram>;

const bucketMinutes = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 3, 6, 12, 24, 2 * 24, 7 * 24, 14 * 24, 28 * 24, 91 * 24, 364 * 24].map((hours) => hours * 60),
];

/**
 * Counts in bounded work: from statistics if they have the filter's values, and no events of them were erased
 * or have expired; otherwise one by one if few match; otherwise estimated. Without `from` it begins at the
 * space's first event, at most {@link openDaysMax} days before `to`.
 */
export async function readHistogram(
  { database, spaceId }: SpaceRows,
  { filter: asked, bucketsMax }: { filter: EventFilter & { to: number }; bucketsMax: number },
): Promise<Histogram> {
  const filter = await completeFilter({ database, spaceId }, asked);
  const from = filter.from ?? (await findFirst(database, spaceId, filter.to));
  const { bucketMs, boundaries } = divide({ from, to: filter.to }, bucketsMax);
  const counted = await countByStatistics(database, spaceId, { filter, boundaries });
  const range = { ...filter, from: boundaries[0] ?? 0, to: boundaries.at(-1) ?? 0 };
  if (counted !== undefined) {
    const { firstMs, areSomeErased } = await findStored({ database, spaceId }, range);
    const isGone = counted.buckets.some((one) => one.events > 0 && one.startMs + bucketMs <= firstMs);
    if (!isGone && (counted.isOfDimension || !areSomeErased))
      return { bucketMs, buckets: counted.buckets, method: 'statistics' };
    const stored = await countStored(database, spaceId, { range, bucketMs });
    if (stored !== undefined) return { bucketMs, buckets: stored, method: 'events' };
  }
  const columns = { id: events.id, startTimeMs: events.startTimeMs, state: events.state };
  const page = await readEventPage(database, spaceId, {
    columns,
    filter: range,
    after: undefined,
    limit: histogramEventsMax,
  });
  const buckets = emptyBuckets(range, bucketMs);
  for (const { startTimeMs, state } of page.rows) {
    const bucket = buckets[Math.floor((startTimeMs - (boundaries[0] ?? 0)) / bucketMs)];
    if (bucket === undefined) continue;
    bucket.events += 1;
    if (state === 'error') bucket.errors += 1;
  }
  if (page.next === undefined) return { bucketMs, buckets, method: 'events' };
  const reachedMs = page.next.startTimeMs;
  const rest = buckets.filter(({ startMs }) => startMs <= reachedMs);
  await estimate(database, spaceId, { filter, buckets: rest, bucketMs });
  return { bucketMs, buckets, method: rest.some(({ isEstimate }) => isEstimate) ? 'estimate' : 'events' };
}

/** An event from a wrong clock must not squeeze all others into one bar. */
const openDaysMax = 5 * 365;

/** Looks once in the index of the roll-ups, and in the deltas; without any event: a day before `to`. */
async function findFirst(database: Database, spaceId: string, to: number): Promise<number> {
  const { spaceId: ofSpace, spanHours, startHour } = eventStatsRollups;
  const { minute } = statisticDeltas;
  const earliest = Math.floor(to / hourMs) - openDaysMax * 24;
  const folded = database
    .select({ hour: startHour })
    .from(eventStatsRollups)
    .where(and(eq(ofSpace, spaceId), eq(spanHours, rollupSpansHours[0]), gte(startHour, earliest)))
    .orderBy(asc(startHour))
    .limit(1);
  const unfolded = database
    .select({ hour: sql<number>`floor(min(${minute}) / 60.0)::bigint`.mapWith(startHour) })
    .from(statisticDeltas)
    .where(and(eq(statisticDeltas.spaceId, spaceId), gte(minute, earliest * 60)));
  const found = await unionAll(folded, unfolded);
  // The minimum of no rows is null.
  const hours = found.flatMap(({ hour }) => hour ?? []);
  const from = Math.min(...hours) * hourMs;
  return from < to ? from : to - 24 * hourMs;
}

function divide(
  { from, to }: { from: number; to: number },
  bucketsMax: number,
): { bucketMs: number; boundaries: number[] } {
  if (to <= from) throw refusal('BAD_REQUEST', 'to: must be later than from.');
  const sizes = bucketMinutes.map((minutes) => minutes * minuteMs);
  // One less, because the range is widened to whole buckets.
  const bucketMs = sizes.find((size) => (to - from) / size <= bucketsMax - 1) ?? sizes.at(-1) ?? 0;
  const first = Math.floor(from / bucketMs) * bucketMs;
  const count = Math.ceil((to - first) / bucketMs);
  if (count > bucketsMax) throw refusal('BAD_REQUEST', 'to: the range is too long.');
  return { bucketMs, boundaries: Array.from({ length: count + 1 }, (_, i) => first + i * bucketMs) };
}

/** @returns undefined when statistics do not have the values of the filter. */
async function countByStatistics(
  database: Database,
  spaceId: string,
  { filter, boundaries }: { filter: EventFilter; boundaries: readonly number[] },
) {
  const list = toCountedList(filter);
  const sliced = list && { group: 'none' as const, filter: list.filter };
  const dimension = sliced && (await lookUpDimension(database, spaceId, sliced));
  if (sliced === undefined || typeof dimension === 'string' || dimension?.isComplete === false)
    return undefined;
  const cells = await readCells(database, spaceId, { ...sliced, dimension, boundaries });
  const byBucket = new Map(cells.map((cell) => [cell.bucket, cell]));
  const isShown = (state: 'ok' | 'error') => list?.states.includes(state) === true;
  const buckets = boundaries.slice(0, -1).map((startMs, bucket) => {
    const { events: all = 0, errors: failed = 0 } = byBucket.get(bucket) ?? {};
    const errors = isShown('error') ? failed : 0;
    return { startMs, events: errors + (isShown('ok') ? all - failed : 0), errors, isEstimate: false };
  });
  return { buckets, isOfDimension: dimension !== undefined };
}

/** Completes uncounted buckets by the share of matching events among the newest of each. */
async function estimate(
  database: Database,
  spaceId: string,
  { filter, buckets, bucketMs }: { filter: EventFilter; buckets: HistogramBucket[]; bucketMs: number },
): Promise<void> {
  const spans = buckets.map(({ startMs }, bucket): SampledSpan => {
    return { bucket, fromMs: startMs, toMs: startMs + bucketMs };
  });
  const boundaries = [...buckets.map(({ startMs }) => startMs), (buckets.at(-1)?.startMs ?? 0) + bucketMs];
  const [samples, cells] = await Promise.all([
    sampleEvents(database, spaceId, { filter, spans, eventsMax: histogramSampleEvents }),
    readCells(database, spaceId, { boundaries, group: 'none', filter: {} }),
  ]);
  const totals = new Map(cells.map((cell) => [cell.bucket, cell.events]));
  const bySpan = new Map(samples.map((sample) => [sample.bucket, sample]));
  for (const [place, bucket] of buckets.entries()) {
    const { examined, matching, errors } = bySpan.get(place) ?? { examined: 0, matching: 0, errors: 0 };
    // Fewer events than requested means that all events of the bucket were examined.
    const isAll = examined < histogramSampleEvents;
    const factor = isAll ? 1 : Math.max(1, (totals.get(place) ?? 0) / examined);
    // The events already counted one by one are a lower bound.
    bucket.events = Math.max(isAll ? 0 : bucket.events, Math.round(matching * factor));
    bucket.errors = Math.max(isAll ? 0 : bucket.errors, Math.round(errors * factor));
    bucket.isEstimate = !isAll;
  }
}
