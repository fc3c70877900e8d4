import type { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { leastToInvite } from '../../../../store/accounts/open-invitations.ts';
import { hasRole } from '../../../../store/accounts/role.ts';
import { actorOf, requireSignedIn } from '../../access.ts';
import { invitationView } from '../../accounts/invitations.ts';
import { invitationTtlHoursDefault, invitationTtlHoursMax } from '../../accounts/limits.ts';
import {
  createdInvitation,
  createInvitation,
  listInvitations,
  openInvitation,
  revokeInvitation,
} from '../../admin/invitation-list.ts';
import { refusal } from '../../refusal.ts';
import { publicProcedure, requirePasswords, router, spaceProcedure } from '../../trpc/trpc.ts';
import { email, newPassword, role, token } from '../account-inputs.ts';
import { attemptToken, startSession } from '../start-session.ts';

export const invitations = router({
  /** The space's invitations that can still be accepted, newest first. */
  list: spaceProcedure('admin')
    .output(z.array(openInvitation))
    .query(({ ctx: { admin } }) => listInvitations(admin.database, admin.spaceId)),

  /** Returns the token of the link `/invitation#<token>`, only once. Only an owner may invite owners. */
  create: spaceProcedure('admin', { isConfirmed: true })
    .input(
      z.object({
        email,
        role,
        ttlHours: z.int().min(1).max(invitationTtlHoursMax).default(invitationTtlHoursDefault),
      }),
    )
    .output(createdInvitation)
    .mutation(async ({ ctx: { admin, actor, role: ownRole }, input: { email, role, ttlHours } }) => {
      if (!hasRole(ownRole, leastToInvite(role))) {
        throw refusal('FORBIDDEN', 'Only an owner may invite an owner.');
      }
      const created = await admin.inTurn(() =>
        createInvitation(admin.database, admin.spaceId, { email, role, ttlHours, actor }),
      );
      if (created === 'is_member') {
        throw refusal('CONFLICT', 'This user is already a member.');
      }
      if (created === 'too_many') {
        throw refusal('TOO_MANY_REQUESTS', 'Too many invitations are open. Revoke some first.');
      }
      return created;
    }),

  revoke: spaceProcedure('admin')
    .input(z.object({ id: z.guid() }))
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor }, input: { id } }) => {
      if (!(await revokeInvitation(admin.database, admin.spaceId, { id, actor }))) {
        throw refusal('NOT_FOUND', 'There is no such open invitation.');
      }
    }),

  /** Shows an invitation to the holder of its link. A mutation, so that the token is not in a URL. */
  look: publicProcedure
    .input(z.object({ token }))
    .output(invitationView)
    .mutation(async ({ ctx, input }) => {
      const seen = await attemptToken(ctx, () => ctx.invitations.look(input.token));
      if (seen === undefined) throw gone();
      return seen;
    }),

  /**
   * A signed-in user with the e-mail address joins the space. Without a session the person chooses a
   * password, which creates the user and signs in; a person with an account must sign in first.
   */
  accept: publicProcedure
    .input(z.object({ token, password: newPassword.optional() }))
    .output(z.object({ spaceId: z.guid() }))
    .mutation(async ({ ctx, input }) => {
      const { address } = ctx.request;
      const user = await ctx.findUser();
      if (user === undefined) requirePasswords(ctx);
      else requireSignedIn(user);
      const outcome = await attemptToken(ctx, async () => {
        const accepted = await (user === undefined
          ? ctx.invitations.acceptNew(input.token, input.password, address)
          : ctx.invitations.acceptAs({ actor: actorOf(user, address), email: user.email }, input.token));
        return accepted === 'gone' ? undefined : accepted;
      });
      if (outcome === undefined) throw gone();
      if (typeof outcome === 'string') throw refusals[outcome]();
      if (outcome.newUserId !== null) {
        const opened = await ctx.sessions.open({ id: outcome.newUserId }, ctx.request, 'invitation');
        if (opened === undefined) throw gone();
        await startSession(ctx, opened);
      }
      return { spaceId: outcome.spaceId };
    }),
});

function gone(): TRPCError {
  return refusal('NOT_FOUND', 'The invitation was accepted or revoked, or has expired. Ask for another one.');
}

const refusals = {
  needs_password: () => refusal('BAD_REQUEST', 'password: choose one, or sign in first.'),
  other_email: () =>
    refusal('FORBIDDEN', 'The invitation is for another e-mail address than yours. Sign out first.'),
  has_account: () => refusal('CONFLICT', 'There is an account for this e-mail address. Sign in first.'),
};
