import { z } from 'zod';
import { listedSession } from '../../accounts/session-list.ts';
import { refusal } from '../../refusal.ts';
import { router, userProcedure } from '../../trpc/trpc.ts';

export const sessions = router({
  /** The sessions that have not expired, most recently used first. */
  list: userProcedure.output(z.array(listedSession)).query(({ ctx }) => ctx.sessionList.list(ctx.user)),

  /** Ends one of them, which may be the current one. */
  revoke: userProcedure
    .input(z.object({ id: z.guid() }))
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      if (!(await ctx.sessionList.revoke(ctx.actor, input.id))) {
        throw refusal('NOT_FOUND', 'You have no such session.');
      }
      if (input.id === ctx.user.sessionId) ctx.request.setSession(undefined);
    }),

  revokeOthers: userProcedure.output(z.object({ revoked: z.number() })).mutation(async ({ ctx }) => ({
    revoked: await ctx.sessionList.revokeOthers(ctx.actor, ctx.user.sessionId),
  })),
});
