import { isRecentRange, type RecentRange, rangeOfDay, recentRanges } from '../../filter/time-range.ts';
import { dayMs, hourMs, minuteMs, type Zone } from '../../format/time.ts';
import type { Search } from '../../url/search.ts';

export type Step = 'minute' | 'hour' | 'day';

/** What the charts show, from the address. */
export interface ChartRange {
  from: number;
  to: number;
  step: Step;
  /** Undefined for a custom range. */
  last: RecentRange | undefined;
}

export const recentDefault: RecentRange = '24h';

/** Ranges up to these lengths are shown by minute and by hour: some 200 bars. */
const minutesUpToMs = 4 * hourMs;
const hoursUpToMs = 9 * dayMs;

/** The charts count whole minutes. */
export function readRange(search: Search, nowMs: number, zone?: Zone): ChartRange {
  const from = Number(search.from);
  const to = Number(search.to);
  const isChosen = search.from !== undefined && search.to !== undefined && from >= 0 && to > from;
  if (isChosen) return { from, to, step: stepOf(to - from), last: undefined };
  const day = rangeOfDay(search, nowMs, zone);
  if (day !== undefined) return { ...day, step: stepOf(day.to - day.from), last: undefined };
  const last = isRecentRange(search.last) ? search.last : recentDefault;
  const end = Math.ceil(nowMs / minuteMs) * minuteMs;
  return { from: end - recentRanges[last].ms, to: end, step: stepOf(recentRanges[last].ms), last };
}

function stepOf(lengthMs: number): Step {
  if (lengthMs <= minutesUpToMs) return 'minute';
  return lengthMs <= hoursUpToMs ? 'hour' : 'day';
}
