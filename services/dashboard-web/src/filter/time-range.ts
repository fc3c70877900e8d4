import { dayMs, hourMs, localTime, minuteMs, startOfDay, type Zone } from '../format/time.ts';
import type { Search } from '../url/search.ts';

/** Time ranges that end now, by their name in an address, in milliseconds. */
export const recentRanges = {
  '15m': { label: 'Last 15 minutes', ms: 15 * minuteMs },
  '1h': { label: 'Last hour', ms: hourMs },
  '24h': { label: 'Last 24 hours', ms: dayMs },
  '7d': { label: 'Last 7 days', ms: 7 * dayMs },
  '30d': { label: 'Last 30 days', ms: 30 * dayMs },
} as const;

export type RecentRange = keyof typeof recentRanges;

export function isRecentRange(text: string | undefined): text is RecentRange {
  return text !== undefined && Object.hasOwn(recentRanges, text);
}

/** Ranges of a day in the viewer's time zone, by their name in an address. */
const dayRanges = { today: 'Today', yesterday: 'Yesterday' } as const;

/** The names of ranges, in the order in which they are offered. */
export const namedRanges: readonly { value: string; label: string }[] = [
  ...Object.entries(recentRanges).map(([value, { label }]) => ({ value, label })),
  ...Object.entries(dayRanges).map(([value, label]) => ({ value, label })),
];

export function isNamedRange(text: string | undefined): text is string {
  return isRecentRange(text) || (text !== undefined && Object.hasOwn(dayRanges, text));
}

/** The start times of a range; an end that is missing is open. */
export interface TimeRange {
  from?: number;
  to?: number;
}

/** The range of an address: a named one, or its own `from` and `to`. */
export function rangeOf(search: Search, nowMs: number, zone?: Zone): TimeRange {
  const { last } = search;
  if (isRecentRange(last)) return { from: nowMs - recentRanges[last].ms };
  if (last === 'today') return { from: startOfDay(nowMs, zone) };
  if (last === 'yesterday') {
    const to = startOfDay(nowMs, zone);
    // Half a day before midnight is in the day before, also when a clock changes.
    return { from: startOfDay(to - dayMs / 2, zone), to };
  }
  const [from, to] = [readTime(search.from), readTime(search.to)];
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

/** The address with the present ends of its range as times: it shows the same events later, too. */
export function withFixedTimes(search: Search, nowMs: number, zone?: Zone): Search {
  const { last: _, ...rest } = search;
  const { from, to = nowMs } = rangeOf(search, nowMs, zone);
  return { ...rest, ...(from !== undefined && { from: String(from) }), to: String(to) };
}

/** The range of an address that names a day, until the next full minute at most; undefined for others. */
export function rangeOfDay(search: Search, nowMs: number, zone?: Zone): Required<TimeRange> | undefined {
  if (isRecentRange(search.last) || !isNamedRange(search.last)) return undefined;
  const { from = 0, to = Math.ceil((nowMs + 1) / minuteMs) * minuteMs } = rangeOf(search, nowMs, zone);
  return { from, to };
}

function readTime(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && text !== '' && Number.isFinite(value) ? value : undefined;
}

/** The ends of a custom range as `datetime-local` fields have them, and back. */
export const localText = (ms: number, zone?: Zone) =>
  new Date(localTime(ms, zone)).toISOString().slice(0, 16);
