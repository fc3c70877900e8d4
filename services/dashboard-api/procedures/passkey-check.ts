import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { passkeyAssertion, proposal } from '../second-factor/passkey-answer.ts';
import type { PasskeySite } from '../second-factor/passkey-site.ts';
import type { Context } from '../trpc/context.ts';
import { requirePasswords } from '../trpc/trpc.ts';

/** The answer of a passkey to `auth.askPasskey`. */
export const answered = z.object({ proposal, answer: passkeyAssertion });

/**
 * The site of the dashboard's passkeys.
 *
 * @throws TRPCError PRECONDITION_FAILED at an address where browsers offer no passkeys; FORBIDDEN with SSO_REQUIRED.
 */
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
