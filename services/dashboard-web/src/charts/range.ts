import { isRecentRange, type RecentRange, recentRanges } from '../filter/recent-range.ts';
import type { Search } from '../url/search.ts';

export interface ChartRange {
  from: number;
  to: number;
  step: 'minute' | 'hour' | 'day';
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Longest ranges with one point per minute and per hour: more points than pixels add nothing. */
const minuteRangeMs = 6 * hourMs;
const hourRangeMs = 15 * dayMs;

/** Ranges end at the next full minute, so that the bucket of this minute is included. */
const roundMs = 60_000;

/** The range of an address: a custom range, or one that ends now. */
export function readRange(search: Search, nowMs: number, fallback: RecentRange): ChartRange {
  const end = Math.ceil(nowMs / roundMs) * roundMs;
  const [from, to] = [Number(search.from), Number(search.to)];
  const isOwn = search.last === undefined && search.from !== undefined && Number.isFinite(from) && from >= 0;
  const last = isRecentRange(search.last) ? search.last : fallback;
  const range = isOwn
    ? { from, to: search.to !== undefined && Number.isFinite(to) && to > from ? to : end }
    : { from: end - recentRanges[last].ms, to: end };
  return { ...range, step: stepOf(range.to - range.from) };
}

function stepOf(ms: number): ChartRange['step'] {
  if (ms <= minuteRangeMs) return 'minute';
  return ms <= hourRangeMs ? 'hour' : 'day';
}
