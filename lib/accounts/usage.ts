import { and, asc, desc, eq, gte, lte, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { spaces, usageDays, usageMonths } from '../db/schema.ts';
import { forecastUsage, type UsageForecast } from './forecast.ts';
import { dayOf, monthEnd, monthOf } from './month.ts';
import type { BillingState } from './spaces.ts';

/** A space's usage in one UTC month: the events stored, and the limit that they count against. */
export interface Usage extends UsageForecast {
  spaceId: string;
  /** `YYYY-MM` */
  month: string;
  events: number;
  /** Null is unlimited. */
  monthlyEventLimit: number | null;
  billingState: BillingState;
  /** What the operator calls its plan. */
  plan: string | null;
  /** The first instant of the next month, ISO 8601, when the count starts at 0 again. */
  resetsAt: string;
}

/** Days from which the forecast is made, today included. */
const forecastDays = 7;
const dayMs = 24 * 60 * 60 * 1_000;

/** @returns undefined when the space does not exist. */
export async function readUsage(
  database: Database,
  spaceId: string,
  now = new Date(),
): Promise<Usage | undefined> {
  const nowMs = now.getTime();
  const month = monthOf(nowMs);
  const firstDay = dayOf(nowMs - (forecastDays - 1) * dayMs);
  const recent = database
    .select({ events: sql`coalesce(sum(${usageDays.events}), 0)` })
    .from(usageDays)
    // By the parameter, not by `spaces.id`: Citus joins no local table with a distributed one inside a subquery.
    .where(
      and(eq(usageDays.spaceId, sql.placeholder('spaceId')), gte(usageDays.day, sql.placeholder('firstDay'))),
    );
  const [row] = await database
    .select({
      events: sql<number>`coalesce(${usageMonths.events}, 0)::float8`,
      monthlyEventLimit: spaces.monthlyEventLimit,
      billingState: spaces.billingState,
      plan: spaces.plan,
      createdAt: spaces.createdAt,
      recentEvents: sql<number>`(${recent})::float8`,
    })
    .from(spaces)
    .leftJoin(
      usageMonths,
      and(eq(usageMonths.spaceId, spaces.id), eq(usageMonths.month, sql.placeholder('month'))),
    )
    .where(eq(spaces.id, sql.placeholder('spaceId')))
    .prepare('usage')
    .execute({ spaceId, month, firstDay });
  if (row === undefined) return undefined;
  const { createdAt, recentEvents, ...shown } = row;
  const resetsAt = monthEnd(nowMs);
  const sinceMs = Math.max(createdAt.getTime(), Date.parse(firstDay));
  const forecast = forecastUsage({
    events: row.events,
    limit: row.monthlyEventLimit,
    recentEvents,
    sinceMs,
    nowMs,
    endMs: Date.parse(resetsAt),
  });
  return { spaceId, month, ...shown, resetsAt, ...forecast };
}

/** What a space received on a UTC day. */
export interface UsageDay {
  /** `YYYY-MM-DD` */
  day: string;
  events: number;
  /** Events received again, which were neither stored nor billed. */
  repeats: number;
}

/** The days from `from` to `to`, both included, on which something was received, the first one first. */
export async function readUsageDays(
  database: Database,
  spaceId: string,
  { from, to }: { from: string; to: string },
): Promise<UsageDay[]> {
  const sum = (column: typeof usageDays.events | typeof usageDays.repeats) =>
    sql<number>`sum(${column})::float8`;
  return database
    .select({ day: usageDays.day, events: sum(usageDays.events), repeats: sum(usageDays.repeats) })
    .from(usageDays)
    .where(and(eq(usageDays.spaceId, spaceId), gte(usageDays.day, from), lte(usageDays.day, to)))
    .groupBy(usageDays.day)
    .orderBy(asc(usageDays.day));
}

/** What a space stored in a UTC month. */
export interface UsageMonth {
  /** `YYYY-MM` */
  month: string;
  events: number;
}

/** The last months in which something was stored, the newest first. */
export async function readUsageMonths(
  database: Database,
  spaceId: string,
  monthsMax: number,
): Promise<UsageMonth[]> {
  return database
    .select({ month: usageMonths.month, events: usageMonths.events })
    .from(usageMonths)
    .where(eq(usageMonths.spaceId, spaceId))
    .orderBy(desc(usageMonths.month))
    .limit(monthsMax);
}
