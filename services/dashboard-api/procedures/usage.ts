import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { dayOf } from '../../../lib/accounts/month.ts';
import { usageDaysMax } from '../limits.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

const dayMs = 24 * 60 * 60 * 1_000;

const range = z
  .object({
    /** Days, UTC, both included. The last 30 days by default. */
    from: z.iso.date().optional(),
    to: z.iso.date().optional(),
  })
  .prefault({});

export const usage = router({
  /** The events that the space stored this month, its limit, plan and billing state, and what the month comes to. */
  current: spaceProcedure('viewer').query(async ({ ctx }) => {
    const usage = await ctx.space.readUsage();
    if (usage === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no such space.' });
    return usage;
  }),

  /** Events by UTC day of receipt: stored, and `repeats`, which were known already. Days without any are left out. */
  daily: spaceProcedure('viewer')
    .input(range)
    .query(({ ctx, input }) => {
      const to = input.to ?? dayOf(Date.now());
      const from = input.from ?? dayOf(Date.parse(to) - 29 * dayMs);
      if (Date.parse(to) - Date.parse(from) >= usageDaysMax * dayMs) {
        throw new TRPCError({ code: 'BAD_REQUEST', message: `from: at most ${usageDaysMax} days before to` });
      }
      return ctx.admin.usageDays({ from, to });
    }),

  /** The months with events, this one too, the newest first; at most three years. */
  months: spaceProcedure('viewer').query(({ ctx }) => ctx.admin.usageMonths()),
});
