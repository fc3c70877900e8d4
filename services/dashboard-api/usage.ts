import { TRPCError } from '@trpc/server';
import { router, spaceProcedure } from './trpc.ts';

export const usage = router({
  /** The events that the space has stored this month, its limit, and whether it is billed. */
  current: spaceProcedure('viewer').query(async ({ ctx }) => {
    const usage = await ctx.door.readUsage();
    if (usage === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no such space.' });
    return usage;
  }),
});
