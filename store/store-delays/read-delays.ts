import { and, asc, eq, gte, lt, sql } from 'drizzle-orm';
import { LatencySketch } from '../../event/latency-sketch.ts';
import { dayMs, minuteMs } from '../../platform/time.ts';
import type { Database } from '../db/database.ts';
import { storeDelays } from '../db/schema.ts';
import { delayDays, delaySpansMinutes } from './limits.ts';

/** Times from receipt until storage, of the events stored in a span. Percentiles are within 5%. */
export interface DelayPoint {
  /** The start of the span, in milliseconds since the epoch. */
  readonly startMs: number;
  readonly events: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The range is widened to whole spans. Spans in which nothing was stored have no point. */
export interface DelayHistory {
  readonly spanMs: number;
  readonly points: DelayPoint[];
  /** Percentiles are null without events. */
  readonly total: { readonly events: number; readonly p50Ms: number | null; readonly p99Ms: number | null };
}

const quantiles = [0.5, 0.99] as const;

/** The longest range that is read in short spans. */
const shortRangeMsMax = dayMs;

/** The delays of a range of the time of storing. @param spaceId or `noSpace` for all spaces together. */
export async function readDelays(
  database: Database,
  spaceId: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<DelayHistory> {
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
