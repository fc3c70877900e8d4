import type { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { actorOf } from '../../access.ts';
import { confirmationTtlMs } from '../../accounts/limits.ts';
import { refusal } from '../../refusal.ts';
import { listedFactors } from '../../second-factor/open-second-factor.ts';
import { passkeyAttestation, passkeyCreation, proposal } from '../../second-factor/passkey-answer.ts';
import { enrolleeProcedure, requirePasswords, router } from '../../trpc/trpc.ts';
import { code, name } from '../account-inputs.ts';
import { requirePasskeySite } from '../start-session.ts';

/** A user with a password. For all others a second factor is the OpenID provider's matter. */
const ownProcedure = enrolleeProcedure.use(({ ctx, next }) => {
  requirePasswords(ctx);
  if (!ctx.user.hasPassword)
    throw refused('You sign in with single sign-on: your identity provider manages second factors.');
  return next();
});

/** Whoever can add a passkey can sign in with it later. */
const changeProcedure = ownProcedure.meta({ access: 'signed in', isConfirmed: true }).use(({ ctx, next }) => {
  const { user, request } = ctx;
  const { totp, passkey } = user.secondFactors;
  const actor = actorOf(user, request.address, { authenticatedWithinMs: confirmationTtlMs });
  return next({
    ctx: { actor, enrollee: { actor, sessionId: user.sessionId }, isFirst: !totp && !passkey },
  });
});

export const secondFactor = router({
  /** The authenticator app, the passkeys, and how many recovery codes are left. */
  list: ownProcedure.output(listedFactors).query(({ ctx }) => ctx.secondFactor.list(ctx.user.userId)),

  /** Proposes a secret: as text, as `otpauth:` URI for a QR code, and sealed for `secondFactor.addTotp`. */
  proposeTotp: ownProcedure
    .output(z.object({ secret: z.string(), uri: z.string(), proposal: z.string() }))
    .query(({ ctx }) => ctx.secondFactor.totpEnrolment.propose(ctx.user)),

  /** Adds an app with a code that it shows. The first second factor ends all other sessions of the user. */
  addTotp: changeProcedure
    .input(z.object({ proposal, code }))
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      const { enrollee, isFirst } = ctx;
      const outcome = await ctx.secondFactor.totpEnrolment.add(enrollee, { ...input, isFirst });
      if (outcome === 'wrong_code') throw refused('The code is wrong. Check the clock of your phone.');
      if (outcome === 'expired') throw refused('This took too long. Start again.');
      if (outcome === 'refused') throw refused('You already have an authenticator app.');
    }),

  /** Ends all other sessions of the user. */
  removeTotp: changeProcedure.output(z.void()).mutation(async ({ ctx }) => {
    if (!(await ctx.secondFactor.totpEnrolment.remove(ctx.enrollee)))
      throw refusal('NOT_FOUND', 'You have no authenticator app.');
  }),

  /** Options for the browser, and the sealed challenge for `secondFactor.addPasskey`. */
  proposePasskey: ownProcedure
    .output(z.object({ creation: passkeyCreation, proposal: z.string() }))
    .query(({ ctx }) => ctx.secondFactor.passkeyEnrolment.propose(requirePasskeySite(ctx), ctx.user)),

  /** Adds a passkey. As the first second factor it ends all other sessions of the user. */
  addPasskey: changeProcedure
    .input(z.object({ proposal, name, answer: passkeyAttestation }))
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      const { enrollee, isFirst } = ctx;
      const created = { ...input, isFirst };
      const outcome = await ctx.secondFactor.passkeyEnrolment.add(requirePasskeySite(ctx), enrollee, created);
      if (outcome === 'invalid') throw refused('The passkey could not be verified. Try again.');
      if (outcome === 'refused')
        throw refused('The passkey is already registered, or you have too many passkeys.');
    }),

  /** Ends all other sessions of the user. */
  removePasskey: changeProcedure
    .input(z.object({ id: z.guid() }))
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      if (!(await ctx.secondFactor.passkeyEnrolment.remove(ctx.enrollee, input.id)))
        throw refusal('NOT_FOUND', 'You have no such passkey.');
    }),

  /** Returns the new codes, once. */
  renewRecoveryCodes: changeProcedure
    .output(z.object({ codes: z.array(z.string()) }))
    .mutation(async ({ ctx }) => {
      const codes = await ctx.secondFactor.renewRecoveryCodes(ctx.actor);
      if (codes === undefined) throw refused('Add an authenticator app or a passkey first.');
      return { codes };
    }),
});

function refused(message: string): TRPCError {
  return refusal('PRECONDITION_FAILED', message);
}
