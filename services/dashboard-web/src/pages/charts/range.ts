import { isRecentRange, type RecentRange, rangeOfDay, recentRanges } from '../../filter/time-range.ts';
import { dayMs, hourMs, minuteMs, type Zone } from '../../format/time.ts';
import type { Search } from '../../url/search.ts';

/** The sizes of buckets, in milliseconds; months of 28 days. */
export const steps = {
  minute: { label: 'By minute', ms: minuteMs },
  '5minutes': { label: 'By 5 minutes', ms: 5 * minuteMs },
  hour: { label: 'By hour', ms: hourMs },
  day: { label: 'By day', ms: dayMs },
  week: { label: 'By week', ms: 7 * dayMs },
  month: { label: 'By month', ms: 28 * dayMs },
} as const;

export type Step = keyof typeof steps;

/** The most buckets of a chart (chartBucketsMax of the API), and the fewest that are offered. */
const bucketsMax = 1_500;

/** The sizes that suit a range of this length. */
export const stepsOf = (lengthMs: number): Step[] =>
  (Object.keys(steps) as Step[]).filter(
    (step) => steps[step].ms * bucketsMax >= lengthMs && steps[step].ms <= lengthMs,
  );

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
  const stepOf = (lengthMs: number) =>
    stepsOf(lengthMs).find((step) => step === search.step) ?? usualStep(lengthMs);
  if (isChosen) return { from, to, step: stepOf(to - from), last: undefined };
  const day = rangeOfDay(search, nowMs, zone);
  if (day !== undefined) return { ...day, step: stepOf(day.to - day.from), last: undefined };
  const last = isRecentRange(search.last) ? search.last : recentDefault;
  const end = Math.ceil(nowMs / minuteMs) * minuteMs;
  return { from: end - recentRanges[last].ms, to: end, step: stepOf(recentRanges[last].ms), last };
}

function usualStep(lengthMs: number): Step {
  if (lengthMs <= minutesUpToMs) return 'minute';
  return lengthMs <= hoursUpToMs ? 'hour' : 'day';
}
