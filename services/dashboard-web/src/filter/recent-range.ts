import { dayMs, hourMs, minuteMs } from '../format/time.ts';

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
