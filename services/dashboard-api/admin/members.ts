import { and, asc, eq, exists, inArray, ne, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import { isoTimes } from '../../../platform/time.ts';
import { type Actor, runAudited } from '../../../store/accounts/audit/audit.ts';
import { revokeRights } from '../../../store/accounts/open-invitations.ts';
import { type Role, roles } from '../../../store/accounts/role.ts';
import type { Database } from '../../../store/db/database.ts';
import { memberships, sessions, users } from '../../../store/db/schema.ts';

export const member = z
  .object({
    userId: z.guid(),
    email: z.string(),
    role: z.enum(roles),
    /** When the operator or an OpenID provider verified the address; null after an invitation only. */
    emailVerifiedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof member>;

interface MemberChange {
  userId: string;
  role: Role | undefined;
  actor: Actor;
}

/** `owner_only`: owners are changed and made by owners only. `last_owner`: one must remain. */
export type MemberOutcome = 'changed' | 'not_a_member' | 'owner_only' | 'last_owner';

/** A space's members, ordered by e-mail address. */
export async function listMembers(database: Database, spaceId: string): Promise<Member[]> {
  const rows = await database
    .select({
      userId: users.id,
      email: users.email,
      role: memberships.role,
      emailVerifiedAt: users.emailVerifiedAt,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.spaceId, spaceId))
    .orderBy(asc(users.email));
  return rows.map(isoTimes);
}

/**
 * Changes a member's role, or removes a member, and revokes invitations by which a higher role could return.
 * @param change `role`: undefined removes the member, with the open invitations from and to the member.
 * @throws GrantLostError
 */
export async function changeMember(
  database: Database,
  spaceId: string,
  change: MemberChange,
): Promise<MemberOutcome> {
  const { userId, role, actor } = change;
  const { owners, isChangeable } = guardOwners(database, spaceId, change);
  const isOne = and(isMember(spaceId, userId), isChangeable);
  const returned = { spaceId: memberships.spaceId };
  const changed =
    role === undefined
      ? database.$with('changed').as(database.delete(memberships).where(isOne).returning(returned))
      : database
          .$with('changed')
          .as(database.update(memberships).set({ role }).where(isOne).returning(returned));
  const rows = await runAudited(database, changed, {
    spaceId: changed.spaceId,
    actor,
    target: userId,
    ...(role === undefined ? { action: 'member.remove' } : { action: 'member.set', details: { role } }),
    before: [owners],
    after: revokeRights(database, { from: changed, spaceId: changed.spaceId, userId, role, actor }),
  });
  return rows.length > 0 ? 'changed' : findReason(database, spaceId, change);
}

/**
 * The condition for changing a membership, with the CTE that it reads: only an owner may make or change
 * owners, and one must remain. The CTE locks the owners in order: when two remove each other, the second
 * statement finds that its actor is no longer an owner.
 */
function guardOwners(database: Database, spaceId: string, { userId, role, actor }: MemberChange) {
  const owners = database.$with('owners').as(
    database
      .select({ userId: memberships.userId })
      .from(memberships)
      .where(and(eq(memberships.spaceId, spaceId), eq(memberships.role, 'owner')))
      .orderBy(memberships.userId)
      .for('update'),
  );
  const one = { one: sql`1` };
  const isAskedByOwner = exists(database.select(one).from(owners).where(eq(owners.userId, actor.id)));
  const isAnotherOwner = exists(database.select(one).from(owners).where(ne(owners.userId, userId)));
  const isChangeable =
    role === 'owner'
      ? isAskedByOwner
      : or(ne(memberships.role, 'owner'), and(isAskedByOwner, isAnotherOwner));
  return { owners, isChangeable };
}

async function findReason(
  database: Database,
  spaceId: string,
  { userId, role, actor }: MemberChange,
): Promise<MemberOutcome> {
  const found = await database
    .select({ userId: memberships.userId, role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.spaceId, spaceId), inArray(memberships.userId, [userId, actor.id])));
  const roleOf = (id: string) => found.find((one) => one.userId === id)?.role;
  if (roleOf(userId) === undefined) return 'not_a_member';
  return roleOf(actor.id) === 'owner' && role !== 'owner' ? 'last_owner' : 'owner_only';
}

function isMember(spaceId: string, userId: string) {
  return and(eq(memberships.spaceId, spaceId), eq(memberships.userId, userId));
}

/**
 * Ends all sessions of a member, for all spaces: a session belongs to a user. Only an owner may end those of
 * an owner. This space's audit log gets a row for each.
 * @returns the number of sessions; or why none may be ended. @throws GrantLostError
 */
export async function endSessionsOfMember(
  database: Database,
  spaceId: string,
  { userId, actor }: { userId: string; actor: Actor },
): Promise<number | 'not_a_member' | 'owner_only'> {
  const isOwner = exists(
    database
      .select({ one: sql`1` })
      .from(memberships)
      .where(and(isMember(spaceId, actor.id), eq(memberships.role, 'owner'))),
  );
  const member = isMember(spaceId, userId);
  const changeable = database
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(and(member, or(ne(memberships.role, 'owner'), isOwner)));
  const ended = database
    .$with('ended')
    .as(
      database
        .delete(sessions)
        .where(inArray(sessions.userId, changeable))
        .returning({ id: sessions.id, userId: sessions.userId }),
    );
  const rows = await runAudited(database, ended, {
    spaceId: sql`${spaceId}::uuid`,
    actor,
    action: 'member.end_session',
    target: ended.userId,
  });
  if (rows.length > 0) return rows.length;
  const [found] = await database.select({ role: memberships.role }).from(memberships).where(member);
  if (found === undefined) return 'not_a_member';
  const [allowed] = await changeable;
  return allowed === undefined ? 'owner_only' : 0;
}
