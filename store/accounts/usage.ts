import { and, asc, desc, eq, gte, lte, sql } from 'drizzle-orm';
import { pick } from '../../platform/pick.ts';
import { dayMs } from '../../platform/time.ts';
import type { Database } from '../db/database.ts';
import { nullIfNodeFailed } from '../db/layout/node-failure.ts';
import { spaces, usageDays, usageMonths } from '../db/schema.ts';
import { forecastUsage } from './forecast.ts';
import { dayOf, monthEnd, monthOf } from './month.ts';

export type Usage = NonNullable<Awaited<ReturnType<typeof readUsage>>>;
export type UsageDay = Awaited<ReturnType<typeof readUsageDays>>[number];
export type UsageMonth = Awaited<ReturnType<typeof readUsageMonths>>[number];

/** Today included. */
const forecastDays = 7;

/**
 * The stored events of this UTC month, and the limit. The events are null while the database node of the
 * space cannot be reached. @returns undefined when the space does not exist.
 */
export async function readUsage(database: Database, spaceId: string, now = new Date()) {
  const nowMs = now.getTime();
  const month = monthOf(nowMs);
  const firstDay = dayOf(nowMs - (forecastDays - 1) * dayMs);
  const [[row], counted] = await Promise.all([
    database
      .select(pick(spaces, 'monthlyEventLimit', 'billingState', 'plan', 'createdAt'))
      .from(spaces)
      .where(eq(spaces.id, spaceId)),
    countUsage(database, spaceId, { month, firstDay }).catch(nullIfNodeFailed),
  ]);
  if (row === undefined) return undefined;
  const { createdAt, ...shown } = row;
  const resetsAt = monthEnd(nowMs);
  const usage = { spaceId, month, events: counted?.events ?? null, ...shown, resetsAt };
  if (counted === null) return { ...usage, forecast: null, limitReachedAt: null };
  const sinceMs = Math.max(createdAt.getTime(), Date.parse(firstDay));
  const { monthlyEventLimit: limit } = row;
  return { ...usage, ...forecastUsage({ ...counted, limit, sinceMs, nowMs, endMs: Date.parse(resetsAt) }) };
}

/** Counts the events of a month, and those since a day. */
async function countUsage(
  database: Database,
  spaceId: string,
  { month, firstDay }: { month: string; firstDay: string },
): Promise<{ events: number; recentEvents: number }> {
  const sum = (column: typeof usageDays.events | typeof usageMonths.events) =>
    sql<number>`coalesce(sum(${column}), 0)::float8`;
  const [ofMonth, recent] = await Promise.all([
    database
      .select({ events: sum(usageMonths.events) })
      .from(usageMonths)
      .where(and(eq(usageMonths.spaceId, spaceId), eq(usageMonths.month, month))),
    database
      .select({ events: sum(usageDays.events) })
      .from(usageDays)
      .where(and(eq(usageDays.spaceId, spaceId), gte(usageDays.day, firstDay))),
  ]);
  return { events: ofMonth[0]?.events ?? 0, recentEvents: recent[0]?.events ?? 0 };
}

/** The UTC days from `from` to `to`, both included, on which events were received, in order. */
export async function readUsageDays(
  database: Database,
  spaceId: string,
  { from, to }: { from: string; to: string },
) {
  const sum = (column: typeof usageDays.events | typeof usageDays.repeats) =>
    sql<number>`sum(${column})::float8`;
  return database
    .select({ day: usageDays.day, events: sum(usageDays.events), repeats: sum(usageDays.repeats) })
    .from(usageDays)
    .where(and(eq(usageDays.spaceId, spaceId), gte(usageDays.day, from), lte(usageDays.day, to)))
    .groupBy(usageDays.day)
    .orderBy(asc(usageDays.day));
}

/** The last UTC months, `YYYY-MM`, with stored events, newest first. */
export async function readUsageMonths(database: Database, spaceId: string, monthsMax: number) {
  return database
    .select({ month: usageMonths.month, events: usageMonths.events })
    .from(usageMonths)
    .where(eq(usageMonths.spaceId, spaceId))
    .orderBy(desc(usageMonths.month))
    .limit(monthsMax);
}
