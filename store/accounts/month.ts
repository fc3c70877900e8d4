/** UTC, `YYYY-MM`, as `usage_months.month` holds it. */
export function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 7);
}

/** UTC, at least 1. */
export function secondsToMonthEnd(timeMs: number): number {
  return Math.max(1, Math.ceil((Date.parse(monthEnd(timeMs)) - timeMs) / 1_000));
}

/** The first instant of the next month, ISO 8601. */
export function monthEnd(timeMs: number): string {
  const now = new Date(timeMs);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
}

/** UTC, `YYYY-MM-DD`, as `usage_days.day` holds it. */
export function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
