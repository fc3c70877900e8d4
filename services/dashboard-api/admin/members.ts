import { and, asc, eq, gt, isNull, ne, or, type SQLWrapper, sql, type WithSubquery } from 'drizzle-orm';
import { z } from 'zod';
import { type Actor, auditChanged } from '../../../lib/accounts/audit.ts';
import { hasRole, type Role, roles } from '../../../lib/accounts/role.ts';
import type { Database } from '../../../lib/db/database.ts';
import { invitations, memberships, users } from '../../../lib/db/schema.ts';
import { nameOf } from '../../../lib/db/statement.ts';

/** A member of a space. */
export const member = z
  .object({ userId: z.guid(), email: z.string(), role: z.enum(roles) })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof member>;

/**
 * Why a member was not changed: `owner_only`: only an owner may change owners or make one. `last_owner`: the space would have
 * no owner.
 */
export type MemberChange = 'changed' | 'not_a_member' | 'owner_only' | 'last_owner';

/** A space's members, by e-mail address. */
export async function listMembers(database: Database, spaceId: string): Promise<Member[]> {
  return database
    .select({ userId: users.id, email: users.email, role: memberships.role })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.spaceId, spaceId))
    .orderBy(asc(users.email));
}

/** Changes a member's role. Who may invite nobody any more has no open invitations left. `actorRole` is the role in the space of whoever asks. */
export async function changeRole(
  database: Database,
  spaceId: string,
  change: { userId: string; role: Role; actor: Actor; actorRole: Role },
): Promise<MemberChange> {
  const { userId, role, actor, actorRole } = change;
  if (!hasRole(actorRole, role)) return 'owner_only';
  const { owners, isChangeable } = guardOwners(database, spaceId, {
    userId,
    actorRole,
    staysOwner: role === 'owner',
  });
  const changed = database.$with('changed').as(
    database
      .update(memberships)
      .set({ role })
      .where(and(isMember(spaceId, userId), isChangeable))
      .returning({ spaceId: memberships.spaceId }),
  );
  const audited = auditChanged(database, changed, {
    spaceId: changed.spaceId,
    actor,
    action: 'member.set',
    target: userId,
    details: { role },
  });
  const revoked = hasRole(role, 'admin')
    ? []
    : revokeInvitationsOf(database, { userId, spaceId: changed.spaceId, from: changed, actor });
  const rows = await database
    .with(owners, changed, audited, ...revoked)
    .select()
    .from(changed);
  return rows.length > 0 ? 'changed' : findReason(database, spaceId, { userId, actorRole });
}

/** Removes a member from a space, and revokes the open invitations that the member has made. */
export async function removeMember(
  database: Database,
  spaceId: string,
  { userId, actor, actorRole }: { userId: string; actor: Actor; actorRole: Role },
): Promise<MemberChange> {
  const { owners, isChangeable } = guardOwners(database, spaceId, { userId, actorRole, staysOwner: false });
  const removed = database.$with('removed').as(
    database
      .delete(memberships)
      .where(and(isMember(spaceId, userId), isChangeable))
      .returning({ spaceId: memberships.spaceId }),
  );
  const audited = auditChanged(database, removed, {
    spaceId: removed.spaceId,
    actor,
    action: 'member.remove',
    target: userId,
  });
  const revoked = revokeInvitationsOf(database, { userId, spaceId: removed.spaceId, from: removed, actor });
  const rows = await database
    .with(owners, removed, audited, ...revoked)
    .select()
    .from(removed);
  return rows.length > 0 ? 'changed' : findReason(database, spaceId, { userId, actorRole });
}

/** Parts of a statement that revoke the open invitations of somebody whom nobody trusts with them any more. `from` is the change of the member. */
function revokeInvitationsOf(
  database: Database,
  { userId, spaceId, from, actor }: { userId: string; spaceId: SQLWrapper; from: WithSubquery; actor: Actor },
): WithSubquery[] {
  const revoked = database.$with('revoked', { id: invitations.id, spaceId: invitations.spaceId }).as(sql`
    UPDATE ${invitations} SET ${nameOf(invitations.revokedAt)} = now() FROM ${from}
    WHERE ${and(
      eq(invitations.spaceId, spaceId),
      eq(invitations.createdBy, userId),
      isNull(invitations.acceptedAt),
      isNull(invitations.revokedAt),
      gt(invitations.expiresAt, sql`now()`),
    )}
    RETURNING ${invitations.id}, ${invitations.spaceId}`);
  const entry = { spaceId: revoked.spaceId, actor, action: 'invitation.revoke', target: revoked.id };
  return [revoked, auditChanged(database, revoked, entry, 'audited_revoked')];
}

/**
 * The condition under which a membership may change, and the part of the statement that it reads. It locks the space's owners,
 * always in the same order: of two owners who remove each other at the same time, the second one waits, finds that the
 * first has gone, and stays.
 */
function guardOwners(
  database: Database,
  spaceId: string,
  change: { userId: string; actorRole: Role; staysOwner: boolean },
) {
  const owners = database.$with('owners').as(
    database
      .select({ userId: memberships.userId })
      .from(memberships)
      .where(and(eq(memberships.spaceId, spaceId), eq(memberships.role, 'owner')))
      .orderBy(memberships.userId)
      .for('update'),
  );
  const isOther = database.select({ one: sql`1` }).from(owners).where(ne(owners.userId, change.userId));
  const isOwnerChangeable =
    change.actorRole === 'owner' ? sql`(${change.staysOwner}::boolean OR EXISTS ${isOther})` : sql`false`;
  return { owners, isChangeable: or(ne(memberships.role, 'owner'), isOwnerChangeable) };
}

async function findReason(
  database: Database,
  spaceId: string,
  { userId, actorRole }: { userId: string; actorRole: Role },
): Promise<MemberChange> {
  const [member] = await database
    .select({ role: memberships.role })
    .from(memberships)
    .where(isMember(spaceId, userId));
  if (member === undefined) return 'not_a_member';
  return actorRole === 'owner' ? 'last_owner' : 'owner_only';
}

function isMember(spaceId: string, userId: string) {
  return and(eq(memberships.spaceId, spaceId), eq(memberships.userId, userId));
}
