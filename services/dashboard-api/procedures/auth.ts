import { z } from 'zod';
import { emailCharsMax } from '../../../store/accounts/limits.ts';
import { refusal } from '../refusal.ts';
import { passkeyRequest, proposal } from '../second-factor/passkey-answer.ts';
import type { Context } from '../trpc/context.ts';
import {
  enrolleeProcedure,
  publicProcedure,
  requirePasswords,
  router,
  signInProcedure,
  userProcedure,
} from '../trpc/trpc.ts';
import { code, newPassword, password, token } from './account-inputs.ts';
import { shownUser } from './me.ts';
import {
  answered,
  attemptToken,
  errorOf,
  finishFirstStep,
  requirePasskeySite,
  secondStep,
  startSession,
  verifyPasskey,
} from './start-session.ts';

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
  /** Whether passkeys can be used at this address. */
  passkey: z.boolean(),
  sso: z.object({ name: z.string(), path: z.string() }).nullable(),
});

const question = z.object({ request: passkeyRequest, proposal }).meta({ id: 'PasskeyQuestion' });

export const auth = router({
  /**
   * Ways to sign in: with SSO_REQUIRED neither password nor passkey; single sign-on at `path`, if configured.
   */
  methods: publicProcedure.output(methods).query(({ ctx }) => describeMethods(ctx)),

  /**
   * Sets the session cookie and returns the same as `me`. With a second factor there is no session yet: sets
   * the cookie of the second step, for five minutes, and returns the user's second factors.
   */
  signIn: signInProcedure
    .input(credentials)
    .output(z.union([shownUser, secondStep]))
    .mutation(async ({ ctx, input }) => {
      requirePasswords(ctx);
      const outcome = await ctx.signIn.open({ ...input, client: ctx.request });
      if (typeof outcome === 'string') throw errorOf(outcome);
      return finishFirstStep(ctx, outcome);
    }),

  /** Signs in with the token of a sign-in link, once; otherwise as `auth.signIn`. */
  redeemLink: signInProcedure
    .input(z.object({ token }))
    .output(z.union([shownUser, secondStep]))
    .mutation(async ({ ctx, input }) => {
      const outcome = await attemptToken(ctx, () => ctx.redeemLink(input.token, ctx.request));
      if (outcome === undefined) {
        throw refusal(
          'UNAUTHORIZED',
          'The link was already used or has expired. Sign in with your password, or get another link.',
        );
      }
      return finishFirstStep(ctx, outcome);
    }),

  /** The second step of a sign-in, with a code of the app or a recovery code; otherwise as `auth.signIn`. */
  giveCode: signInProcedure
    .input(z.object({ code }))
    .output(shownUser)
    .mutation(async ({ ctx, input }) => {
      const outcome = await ctx.secondStep.finish(ctx.request.step, input.code, ctx.request);
      if (outcome === 'expired') throw refusal('UNAUTHORIZED', 'The sign-in took too long. Start again.');
      if (outcome === 'rejected') throw refusal('FORBIDDEN', 'The code is wrong or was already used.');
      if (outcome === 'too_many_attempts') throw errorOf(outcome);
      return startSession(ctx, outcome.token);
    }),

  /** A question that one passkey of any user may answer once, within five minutes. */
  askPasskey: publicProcedure.output(question).query(({ ctx }) => {
    return ctx.secondFactor.passkeys.ask(requirePasskeySite(ctx));
  }),

  /** Signs in with a passkey, alone or as the second step; otherwise as `auth.signIn`. */
  signInWithPasskey: signInProcedure
    .input(answered)
    .output(shownUser)
    .mutation(async ({ ctx, input }) => {
      const { request } = ctx;
      const opened = await attemptToken(ctx, async () => {
        const id = await verifyPasskey(ctx, input);
        return id && ctx.sessions.open({ id }, request, 'passkey');
      });
      if (opened === undefined) throw refusal('UNAUTHORIZED', 'The passkey is not known here. Try again.');
      return startSession(ctx, opened);
    }),

  /** Deletes the session and its cookie. Without a session it does nothing. */
  signOut: publicProcedure.output(z.void()).mutation(async ({ ctx }) => {
    const { token, address } = ctx.request;
    if (token !== undefined) await ctx.sessions.close(token, address);
    ctx.request.setSession(undefined);
  }),

  /**
   * Authenticates the session's user again, with a code if there is a second factor. Procedures marked
   * “confirmed” are refused with PRECONDITION_REQUIRED more than 15 minutes after the last authentication.
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

  /** Ends all other sessions of the user. */
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
          throw refusal('FORBIDDEN', 'The current password is wrong.');
        case 'no_password':
          throw noPassword();
        default:
          throw errorOf(outcome);
      }
    }),
});

function describeMethods({ arePasswordsAllowed, ssoName, findPasskeySite, request }: Context) {
  return {
    password: arePasswordsAllowed,
    passkey: arePasswordsAllowed && findPasskeySite(request.host) !== undefined,
    sso: ssoName === undefined ? null : { name: ssoName, path: '/auth/sso/start' },
  };
}

function noPassword() {
  return refusal('PRECONDITION_FAILED', 'You sign in with single sign-on: you have no password here.');
}
