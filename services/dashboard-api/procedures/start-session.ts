import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { networkOf } from '../accounts/client-address.ts';
import type { FirstStep } from '../accounts/second-step.ts';
import type { SignInFailure } from '../accounts/sign-in.ts';
import { refusal } from '../refusal.ts';
import { passkeyAssertion, proposal } from '../second-factor/passkey-answer.ts';
import type { PasskeySite } from '../second-factor/passkey-site.ts';
import type { Context } from '../trpc/context.ts';
import { requirePasswords } from '../trpc/trpc.ts';
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

export const answered = z.object({ proposal, answer: passkeyAssertion });

/** @throws TRPCError PRECONDITION_FAILED where browsers offer no passkeys; FORBIDDEN with SSO_REQUIRED. */
export function requirePasskeySite(ctx: Context): PasskeySite {
  requirePasswords(ctx);
  const site = ctx.findPasskeySite(ctx.request.host);
  if (site !== undefined) return site;
  throw new TRPCError({
    code: 'PRECONDITION_FAILED',
    message:
      'Passkeys need DASHBOARD_PUBLIC_URL with https and a host name, or the address http://localhost.',
  });
}

/** @returns the passkey's user. */
export function verifyPasskey(ctx: Context, { proposal, answer }: z.infer<typeof answered>) {
  return ctx.secondFactor.passkeys.verify(requirePasskeySite(ctx), proposal, answer);
}

/**
 * Limits invalid tokens, for which `call` returns undefined, by network. @throws TRPCError TOO_MANY_REQUESTS
 */
export async function attemptToken<T>(
  { tokenAttempts, request }: Context,
  call: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const network = networkOf(request.address);
  if (!tokenAttempts.take(network)) {
    throw refusal('TOO_MANY_REQUESTS', 'Too many attempts. Try again in 15 minutes.');
  }
  const result = await call();
  if (result !== undefined) tokenAttempts.giveBack(network);
  return result;
}
