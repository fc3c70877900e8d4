import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { emailCharsMax, passwordCharsMax } from '../../lib/limits.ts';
import { describeVisitor } from './me.ts';
import type { SignInOutcome } from './sign-in.ts';
import { publicProcedure, router } from './trpc.ts';

const credentials = z.object({
  email: z.string().min(1).max(emailCharsMax),
  password: z.string().min(1).max(passwordCharsMax),
});

export const auth = router({
  /** Signs in by e-mail and password: sets the session's cookie, and answers what `me` does. */
  signIn: publicProcedure.input(credentials).mutation(async ({ ctx, input }) => {
    const outcome = await ctx.signIn({ ...input, address: ctx.request.address });
    if (typeof outcome === 'string') throw refusal(outcome);
    const visitor = await ctx.sessions.find(outcome.token);
    if (visitor === undefined) throw refusal('refused');
    ctx.request.setSession(outcome.token);
    return describeVisitor(visitor);
  }),

  /** Ends the session, here and in Postgres. Nobody signed in is no mistake. */
  signOut: publicProcedure.mutation(async ({ ctx }) => {
    if (ctx.request.token !== undefined) await ctx.sessions.close(ctx.request.token);
    ctx.request.setSession(undefined);
  }),
});

function refusal(outcome: Extract<SignInOutcome, string>): TRPCError {
  switch (outcome) {
    case 'refused':
      return new TRPCError({ code: 'UNAUTHORIZED', message: 'The e-mail or the password is wrong.' });
    case 'too_many_tries':
      return new TRPCError({
        code: 'TOO_MANY_REQUESTS',
        message: 'Too many tries. Wait a quarter of an hour.',
      });
    case 'busy':
      return new TRPCError({
        code: 'TOO_MANY_REQUESTS',
        message: 'Too many people are signing in. Try again.',
      });
  }
}
