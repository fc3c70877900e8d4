/** What a month's usage comes to, if events go on arriving as they did in the last days. */
export interface UsageForecast {
  /** Events at the end of the month. */
  forecast: number;
  /** When the limit is reached, ISO 8601; null when it is not reached this month, or there is none. */
  limitReachedAt: string | null;
}

/** Shortest time that a rate is computed from: the first events of a new space are no rate yet. */
const spanMsMin = 60 * 60 * 1_000;

/** @param usage `recentEvents` arrived since `sinceMs`; `endMs` is the end of the month. */
export function forecastUsage(usage: {
  events: number;
  limit: number | null;
  recentEvents: number;
  sinceMs: number;
  nowMs: number;
  endMs: number;
}): UsageForecast {
  const { events, limit, recentEvents, sinceMs, nowMs, endMs } = usage;
  const perMs = recentEvents / Math.max(nowMs - sinceMs, spanMsMin);
  const reachedMs = limit === null ? Infinity : nowMs + Math.max(0, limit - events) / perMs;
  return {
    forecast: Math.round(events + perMs * (endMs - nowMs)),
    limitReachedAt:
      limit !== null && events >= limit
        ? new Date(nowMs).toISOString()
        : reachedMs < endMs
          ? new Date(reachedMs).toISOString()
          : null,
  };
}
