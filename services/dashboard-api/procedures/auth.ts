import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { emailCharsMax } from '../../../lib/accounts/limits.ts';
import type { SignInFailure } from '../accounts/sign-in.ts';
import type { Context } from '../trpc/context.ts';
import { publicProcedure, requirePasswords, router, userProcedure } from '../trpc/trpc.ts';
import { newPassword, password, token } from './account-inputs.ts';
import { describeUser, type Me, shownUser } from './me.ts';
import { attemptToken } from './token-attempt.ts';

const credentials = z.object({
  email: z
    .string()
    .min(1)
    .max(emailCharsMax)
    // Postgres rejects U+0000 in a text.
    .refine((text) => !text.includes('\0'), 'must not contain U+0000'),
  password,
});

const methods = z.object({
  password: z.boolean(),
  sso: z.object({ name: z.string(), path: z.string() }).nullable(),
});

export const auth = router({
  /** The ways to sign in: with a password, unless the operator requires single sign-on; and with single sign-on at `path`, if it is configured. */
  methods: publicProcedure.output(methods).query(({ ctx: { arePasswordsAllowed, ssoName } }) => ({
    password: arePasswordsAllowed,
    sso: ssoName === undefined ? null : { name: ssoName, path: '/auth/sso/start' },
  })),

  /** Signs in with e-mail address and password: sets the session cookie and returns the same as `me`. */
  signIn: publicProcedure
    .input(credentials)
    .output(shownUser)
    .mutation(async ({ ctx, input }) => {
      requirePasswords(ctx);
      const outcome = await ctx.signIn.open({ ...input, client: ctx.request });
      if (typeof outcome === 'string') throw errorOf(outcome);
      return startSession(ctx, outcome.token);
    }),

  /** Signs in with the token of a sign-in link, once: sets the session cookie and returns the same as `me`. */
  redeemLink: publicProcedure
    .input(z.object({ token }))
    .output(shownUser)
    .mutation(async ({ ctx, input }) => {
      const opened = await attemptToken(ctx, () => ctx.redeemLink(input.token, ctx.request));
      if (opened === undefined) {
        throw new TRPCError({
          code: 'UNAUTHORIZED',
          message:
            'The link was already used or has expired. Sign in with your password, or get another link.',
        });
      }
      return startSession(ctx, opened);
    }),

  /** Deletes the session and its cookie. Without a session it does nothing. */
  signOut: publicProcedure.output(z.void()).mutation(async ({ ctx }) => {
    const { token, address } = ctx.request;
    if (token !== undefined) await ctx.sessions.close(token, address);
    ctx.request.setSession(undefined);
  }),

  /**
   * Authenticates the session's user again with the password. Procedures marked “confirmed” are refused with
   * PRECONDITION_REQUIRED when the session authenticated more than 15 minutes ago.
   */
  confirm: userProcedure
    .input(z.object({ password }))
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      requirePasswords(ctx);
      const { actor, request, user } = ctx;
      const { email, hasPassword, sessionId } = user;
      if (!hasPassword) throw noPassword();
      const attempt = { email, password: input.password, client: request, actor, sessionId };
      const outcome = await ctx.signIn.confirm(attempt);
      if (outcome === 'confirmed') return;
      // Not UNAUTHORIZED, which means that the session has ended.
      if (outcome === 'rejected')
        throw new TRPCError({ code: 'FORBIDDEN', message: 'The password is wrong.' });
      throw errorOf(outcome);
    }),

  /** Sets a new password, and ends all other sessions of the user. */
  changePassword: userProcedure
    .input(z.object({ currentPassword: password, newPassword }))
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      requirePasswords(ctx);
      const passwords = { current: input.currentPassword, next: input.newPassword };
      const outcome = await ctx.changePassword(
        { actor: ctx.actor, sessionId: ctx.user.sessionId },
        passwords,
      );
      switch (outcome) {
        case 'changed':
          return;
        case 'wrong':
          throw new TRPCError({ code: 'FORBIDDEN', message: 'The current password is wrong.' });
        case 'no_password':
          throw noPassword();
        default:
          throw errorOf(outcome);
      }
    }),
});

/** Sets the cookie of a newly opened session. */
export async function startSession(ctx: Context, token: string): Promise<Me> {
  const user = await ctx.sessions.find(token);
  if (user === undefined) throw errorOf('rejected');
  ctx.request.setSession(token);
  return describeUser(user);
}

function noPassword(): TRPCError {
  return new TRPCError({
    code: 'PRECONDITION_FAILED',
    message: 'You sign in with single sign-on: you have no password here.',
  });
}

function errorOf(outcome: SignInFailure): TRPCError {
  switch (outcome) {
    case 'rejected':
      return new TRPCError({ code: 'UNAUTHORIZED', message: 'The e-mail or the password is wrong.' });
    case 'too_many_attempts':
      return new TRPCError({
        code: 'TOO_MANY_REQUESTS',
        message: 'Too many attempts. Try again in 15 minutes.',
      });
    case 'busy':
      return new TRPCError({
        code: 'TOO_MANY_REQUESTS',
        message: 'Too many people are signing in. Try again.',
      });
  }
}
