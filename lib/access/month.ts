/** The UTC month of an instant, as `usage_months.month` has it. */
export function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 7);
}

/** The first instant of the month after, ISO 8601. */
export function monthEnd(timeMs: number): string {
  const now = new Date(timeMs);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
}
