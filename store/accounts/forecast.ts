import { dayMs } from '../../platform/time.ts';

/** Shortest time for a rate: from a burst in the first minutes it would forecast far too many events. */
const spanMsMin = dayMs;

/** @param usage `recentEvents` arrived since `sinceMs`; `endMs` is the end of the month. */
export function forecastUsage(usage: {
  events: number;
  limit: number | null;
  recentEvents: number;
  sinceMs: number;
  nowMs: number;
  endMs: number;
}) {
  const { events, limit, recentEvents, sinceMs, nowMs, endMs } = usage;
  const isReached = limit !== null && events >= limit;
  if (recentEvents > 0 && nowMs - sinceMs < spanMsMin)
    return { forecast: null, limitReachedAt: isReached ? new Date(nowMs).toISOString() : null };
  const perMs = recentEvents / Math.max(nowMs - sinceMs, spanMsMin);
  const reachedMs = limit === null ? Infinity : nowMs + Math.max(0, limit - events) / perMs;
  const atMs = isReached ? nowMs : reachedMs;
  return {
    /** Events at the end of the month; null on a space's first day, which is too short for a rate. */
    forecast: Math.round(events + perMs * (endMs - nowMs)),
    /** ISO 8601; null when the limit is not reached this month, or without a limit or a forecast. */
    limitReachedAt: atMs < endMs ? new Date(atMs).toISOString() : null,
  };
}
