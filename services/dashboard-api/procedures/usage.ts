import { z } from 'zod';
import { day } from '../../../platform/instant.ts';
import { dayMs } from '../../../platform/time.ts';
import { dayOf } from '../../../store/accounts/month.ts';
import {
  readUsage,
  readUsageDays,
  readUsageMonths,
  type Usage,
  type UsageDay,
  type UsageMonth,
} from '../../../store/accounts/usage.ts';
import { refusal } from '../refusal.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

/** Days in a response of `usage.daily`, and months in one of `usage.months`. */
const usageDaysMax = 400;
const usageMonthsMax = 36;

const range = z
  .object({
    /** UTC days, both included. Default: the last 30 days. */
    from: day.optional(),
    to: day.optional(),
  })
  .prefault({});

const currentUsage = z
  .object({
    spaceId: z.guid(),
    /** `YYYY-MM`, UTC. */
    month: z.string(),
    /** Null while the database node of the space cannot be reached; then there is no forecast. */
    events: z.number().nullable(),
    /** Null is unlimited. */
    monthlyEventLimit: z.number().nullable(),
    billingState: z.enum(['active', 'inactive']),
    /** The name of the plan, set by the operator. */
    plan: z.string().nullable(),
    /** The start of the next month, ISO 8601, when the count is reset to 0. */
    resetsAt: z.iso.datetime(),
    /** Expected events at the end of the month; null on the first day of a space. */
    forecast: z.number().nullable(),
    /** When the limit will be reached, ISO 8601; null if not this month, or without a limit or a forecast. */
    limitReachedAt: z.iso.datetime().nullable(),
  } satisfies Record<keyof Usage, z.ZodType>)
  .meta({ id: 'Usage' });

const usageDay = z
  .object({
    day: z.iso.date(),
    events: z.number(),
    /** Events received again, which were neither stored nor billed. */
    repeats: z.number(),
  } satisfies Record<keyof UsageDay, z.ZodType>)
  .meta({ id: 'UsageDay' });

const usageMonth = z
  .object({ month: z.string(), events: z.number() } satisfies Record<keyof UsageMonth, z.ZodType>)
  .meta({ id: 'UsageMonth' });

export const usage = router({
  /**
   * The number of events stored this month, the limit, plan and billing state, and a forecast for the month.
   */
  current: spaceProcedure('viewer', { isStatistics: true })
    .output(currentUsage)
    .query(async ({ ctx }) => {
      const usage = await readUsage(ctx.space.database, ctx.space.spaceId);
      if (usage === undefined) throw refusal('NOT_FOUND', 'There is no such space.');
      return usage;
    }),

  /**
   * Events by UTC day of receipt: stored ones, and `repeats` of known ones. Days without events are omitted.
   */
  daily: spaceProcedure('viewer', { isStatistics: true })
    .input(range)
    .output(z.array(usageDay))
    .query(({ ctx, input }) => {
      const to = input.to ?? dayOf(Date.now());
      const from = input.from ?? dayOf(Date.parse(to) - 29 * dayMs);
      if (Date.parse(to) - Date.parse(from) >= usageDaysMax * dayMs) {
        throw refusal('BAD_REQUEST', `from: at most ${usageDaysMax} days before to`);
      }
      return readUsageDays(ctx.space.database, ctx.space.spaceId, { from, to });
    }),

  /** The months with events including the current one, newest first; at most three years. */
  months: spaceProcedure('viewer', { isStatistics: true })
    .output(z.array(usageMonth))
    .query(({ ctx }) => readUsageMonths(ctx.space.database, ctx.space.spaceId, usageMonthsMax)),
});
