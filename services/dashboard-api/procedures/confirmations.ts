import type { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { refusal } from '../refusal.ts';
import { enrolleeProcedure, requirePasswords } from '../trpc/trpc.ts';
import { code, password } from './account-inputs.ts';
import { answered, verifyPasskey } from './passkey-check.ts';
import { errorOf } from './start-session.ts';
import { attemptToken } from './token-attempt.ts';

/** The procedures with which a session authenticates again. */
export const confirmations = {
  /**
   * Authenticates the session's user again with the password, and with a code if the user has a second factor. Procedures marked
   * “confirmed” are refused with PRECONDITION_REQUIRED when the session authenticated more than 15 minutes ago.
   */
  confirm: enrolleeProcedure
    .input(z.object({ password, code: code.optional() }))
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      requirePasswords(ctx);
      const { actor, request, user } = ctx;
      const { email, hasPassword, secondFactors, sessionId } = user;
      if (!hasPassword) throw noPassword();
      const hasFactor = secondFactors.totp || secondFactors.passkey;
      if (hasFactor && input.code === undefined)
        throw refusal('BAD_REQUEST', 'code: your second factor is needed too.');
      const outcome = await ctx.signIn.confirm({
        ...input,
        email,
        client: request,
        actor,
        sessionId,
        code: input.code,
      });
      if (outcome === 'confirmed') return;
      // Not UNAUTHORIZED, which means that the session has ended.
      if (outcome === 'rejected')
        throw refusal(
          'FORBIDDEN',
          hasFactor ? 'The password or the code is wrong.' : 'The password is wrong.',
        );
      throw errorOf(outcome);
    }),

  /** Authenticates the session's user again with a passkey. */
  confirmWithPasskey: enrolleeProcedure
    .input(answered)
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      const { actor, user } = ctx;
      const confirmed = await attemptToken(ctx, async () => {
        const isOwn = (await verifyPasskey(ctx, input)) === user.userId;
        return (isOwn && (await ctx.sessions.confirm(actor, user.sessionId))) || undefined;
      });
      if (confirmed === undefined) throw refusal('FORBIDDEN', 'This is not one of your passkeys. Try again.');
    }),
};

/** The error of a user who has no password. */
export function noPassword(): TRPCError {
  return refusal('PRECONDITION_FAILED', 'You sign in with single sign-on: you have no password here.');
}
