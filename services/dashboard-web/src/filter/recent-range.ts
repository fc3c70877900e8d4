/** Time ranges that end now, by their name in an address, in milliseconds. */
export const recentRanges = {
  '15m': { label: 'Last 15 minutes', ms: 15 * 60_000 },
  '1h': { label: 'Last hour', ms: 3_600_000 },
  '24h': { label: 'Last 24 hours', ms: 86_400_000 },
  '7d': { label: 'Last 7 days', ms: 7 * 86_400_000 },
  '30d': { label: 'Last 30 days', ms: 30 * 86_400_000 },
} as const;

export type RecentRange = keyof typeof recentRanges;

export function isRecentRange(text: string | undefined): text is RecentRange {
  return text !== undefined && Object.hasOwn(recentRanges, text);
}
