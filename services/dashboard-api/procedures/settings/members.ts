import type { TRPCError } from '@trpc/server';
import { z } from 'zod';
import {
  changeMember,
  endSessionsOfMember,
  listMembers,
  type MemberOutcome,
  member,
} from '../../admin/members.ts';
import { refusal } from '../../refusal.ts';
import { router, spaceProcedure } from '../../trpc/trpc.ts';
import { role } from '../account-inputs.ts';

export const members = router({
  /** The members of the space, ordered by e-mail address. */
  list: spaceProcedure('member')
    .output(z.array(member))
    .query(({ ctx: { admin } }) => listMembers(admin.database, admin.spaceId)),

  /** Changes a member's role. Only owners may change or make owners; the last owner cannot be demoted. */
  setRole: spaceProcedure('admin', { isConfirmed: true })
    .input(z.object({ userId: z.guid(), role }))
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor }, input: { userId, role } }) => {
      throwUnlessChanged(await changeMember(admin.database, admin.spaceId, { userId, role, actor }));
    }),

  /** Removes a member from the space. Only owners may remove owners; the last owner cannot be removed. */
  remove: spaceProcedure('admin', { isConfirmed: true })
    .input(z.object({ userId: z.guid() }))
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor }, input: { userId } }) => {
      const removal = { userId, role: undefined, actor };
      throwUnlessChanged(await changeMember(admin.database, admin.spaceId, removal));
    }),

  /** Ends a member's sessions in all browsers. Only owners may end those of owners. */
  endSessions: spaceProcedure('admin')
    .input(z.object({ userId: z.guid() }))
    .output(z.object({ ended: z.number() }))
    .mutation(async ({ ctx: { admin, actor }, input: { userId } }) => {
      const ended = await endSessionsOfMember(admin.database, admin.spaceId, { userId, actor });
      if (typeof ended === 'number') return { ended };
      throw memberFailure(ended);
    }),
});

function throwUnlessChanged(outcome: MemberOutcome): void {
  if (outcome !== 'changed') throw memberFailure(outcome);
}

function memberFailure(outcome: Exclude<MemberOutcome, 'changed'>): TRPCError {
  switch (outcome) {
    case 'not_a_member':
      return refusal('NOT_FOUND', 'The space has no such member.');
    case 'owner_only':
      return refusal('FORBIDDEN', 'Only an owner can change an owner.');
    case 'last_owner':
      return refusal('CONFLICT', 'This is the last owner of the space. Make another member an owner first.');
  }
}
