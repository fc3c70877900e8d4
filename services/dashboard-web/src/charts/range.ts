import { isRecentRange, rangeOfDay, recentRanges } from '../filter/time-range.ts';
import { dayMs, hourMs, minuteMs, type Zone } from '../format/time.ts';
import type { Search } from '../url/search.ts';

export interface ChartRange {
  from: number;
  to: number;
  step: 'minute' | 'hour' | 'day';
}

/** Longest ranges with one point per minute and per hour: more points than pixels add nothing. */
const minuteRangeMs = 6 * hourMs;
const hourRangeMs = 15 * dayMs;

/** The range of an address: a custom range, a day, or one that ends now; by default the last 24 hours. */
export function readRange(search: Search, nowMs: number, zone?: Zone): ChartRange {
  // The next full minute, so that the bucket of this minute is included.
  const end = Math.ceil(nowMs / minuteMs) * minuteMs;
  const [from, to] = [Number(search.from), Number(search.to)];
  const isOwn = search.last === undefined && search.from !== undefined && Number.isFinite(from) && from >= 0;
  const day = rangeOfDay(search, nowMs, zone);
  if (day !== undefined) return { ...day, step: stepOf(day.to - day.from) };
  const last = isRecentRange(search.last) ? search.last : '24h';
  const range = isOwn
    ? { from, to: search.to !== undefined && Number.isFinite(to) && to > from ? to : end }
    : { from: end - recentRanges[last].ms, to: end };
  return { ...range, step: stepOf(range.to - range.from) };
}

function stepOf(ms: number): ChartRange['step'] {
  if (ms <= minuteRangeMs) return 'minute';
  return ms <= hourRangeMs ? 'hour' : 'day';
}
