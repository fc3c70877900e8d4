import type { TRPCError } from '@trpc/server';
import { z } from 'zod';
import type { FirstStep } from '../accounts/second-step.ts';
import type { SignInFailure } from '../accounts/sign-in.ts';
import { refusal } from '../refusal.ts';
import type { Context } from '../trpc/context.ts';
import { describeUser, type Me, secondFactors } from './me.ts';

/** The sign-in waits for a second factor of the user: `auth.giveCode` or `auth.signInWithPasskey`. */
export const secondStep = z.object({ secondFactors }).meta({ id: 'SecondStep' });

/** Sets the cookie of the session, or of the second step. */
export async function finishFirstStep(
  ctx: Context,
  outcome: FirstStep,
): Promise<Me | z.infer<typeof secondStep>> {
  if ('token' in outcome) return startSession(ctx, outcome.token);
  ctx.request.setStep(outcome.step);
  return { secondFactors: outcome.factors };
}

/** Sets the cookie of a newly opened session. */
export async function startSession(ctx: Context, token: string): Promise<Me> {
  const user = await ctx.sessions.find(token);
  if (user === undefined) throw errorOf('rejected');
  ctx.request.setSession(token);
  if (ctx.request.step !== undefined) ctx.request.setStep(undefined);
  return describeUser(user);
}

/** The error of a failed attempt to sign in or to confirm. */
export function errorOf(outcome: SignInFailure): TRPCError {
  switch (outcome) {
    case 'rejected':
      return refusal('UNAUTHORIZED', 'The e-mail or the password is wrong.');
    case 'too_many_attempts':
      return refusal('TOO_MANY_REQUESTS', 'Too many attempts. Try again in 15 minutes.');
    case 'busy':
      return refusal('TOO_MANY_REQUESTS', 'Too many people are signing in. Try again.');
  }
}
