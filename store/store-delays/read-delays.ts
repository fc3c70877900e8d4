import { and, asc, eq, gte, lt, sql } from 'drizzle-orm';
import { LatencySketch } from '../../event/latency-sketch.ts';
import { dayMs, minuteMs } from '../../platform/time.ts';
import type { Database } from '../db/database.ts';
import { storeDelays } from '../db/schema.ts';
import { delayDays, delaySpansMinutes } from './limits.ts';

export type DelayHistory = Awaited<ReturnType<typeof readDelays>>;

const quantiles = [0.5, 0.99] as const;

/** The longest range that is read in short spans. */
const shortRangeMsMax = dayMs;

/**
 * The times from receipt until storage, in spans of the time of storing; percentiles are within 5%.
 * @param spaceId or `noSpace` for all spaces together. @param range is widened to whole spans.
 */
export async function readDelays(
  database: Database,
  spaceId: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
) {
  const isShort = toMs - fromMs <= shortRangeMsMax && fromMs > Date.now() - delayDays.short * dayMs;
  const spanMinutes = delaySpansMinutes[isShort ? 'short' : 'long'];
  const { startMinute, events, delays } = storeDelays;
  const rows = await database
    .select({ startMinute, events, delays: sql<Uint8Array>`array_send(${delays})` })
    .from(storeDelays)
    .where(
      and(
        eq(storeDelays.spaceId, spaceId),
        eq(storeDelays.spanMinutes, spanMinutes),
        gte(startMinute, Math.floor(fromMs / minuteMs / spanMinutes) * spanMinutes),
        lt(startMinute, Math.ceil(toMs / minuteMs)),
      ),
    )
    .orderBy(asc(startMinute));
  const [all, one] = [new LatencySketch(), new LatencySketch()];
  const points = rows.map((row) => {
    one.clear();
    one.addBinary(row.delays);
    all.merge(one);
    const [p50Ms = 0, p99Ms = 0] = one.quantiles(quantiles);
    return { startMs: row.startMinute * minuteMs, events: row.events, p50Ms, p99Ms };
  });
  const [p50Ms = null, p99Ms = null] = all.quantiles(quantiles);
  const total = { events: rows.reduce((sum, row) => sum + row.events, 0), p50Ms, p99Ms };
  return { spanMs: spanMinutes * minuteMs, points, total };
}
