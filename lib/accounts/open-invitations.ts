import { and, eq, gt, isNull, ne, or, type SQL, type SQLWrapper, sql, type WithSubquery } from 'drizzle-orm';
import type { Database, Transaction } from '../db/database.ts';
import { invitations, memberships, users } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import { type Actor, auditPart, operator } from './audit/audit.ts';
import { hasRole, type Role } from './role.ts';

/** Which invitations are open, and how they end with the rights of whoever made them. */

/** The condition that an invitation was neither accepted nor revoked, and has not expired. */
export const isOpenInvitation = and(
  isNull(invitations.acceptedAt),
  isNull(invitations.revokedAt),
  gt(invitations.expiresAt, sql`now()`),
);

/** The role that it takes to invite somebody to a role: only an owner makes owners. */
export function leastToInvite(invited: Role): Role {
  return invited === 'owner' ? 'owner' : 'admin';
}

/**
 * The condition that whoever made an invitation could make it now. An invitation is accepted only then: a revocation that runs
 * beside the creation of an invitation does not see it.
 */
export function isMakerTrusted(database: Database): SQL | undefined {
  const maker = database
    .select({ one: sql`1` })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        isNull(users.disabledAt),
        eq(memberships.spaceId, invitations.spaceId),
        eq(sql`${memberships.userId}::text`, invitations.createdBy),
        or(
          eq(memberships.role, 'owner'),
          and(eq(memberships.role, leastToInvite('viewer')), ne(invitations.role, 'owner')),
        ),
      ),
    );
  return or(eq(invitations.createdBy, operator.id), sql`EXISTS ${maker}`);
}

/** Whose invitations end. */
export interface LostRights {
  /** The part of the statement that takes rights from a user; nothing is revoked when it changes no row. */
  from: WithSubquery;
  /** The column of it with the space; undefined for all spaces. */
  spaceId: SQLWrapper | undefined;
  userId: string;
  /** The role that the user has then; undefined for none. */
  role: Role | undefined;
  actor: Actor;
}

/**
 * Parts of a statement that revoke the open invitations by which somebody whose rights change could come back: those that the
 * user made and could not make any more, and those to the user's own e-mail address.
 */
export function revokeInvitations(
  database: Database | Transaction,
  { from, spaceId, userId, role, actor }: LostRights,
): WithSubquery[] {
  const isOwn = sql`${invitations.email} = (SELECT ${users.email} FROM ${users} WHERE ${eq(users.id, userId)})`;
  const revoked = database.$with('revoked', { id: invitations.id, spaceId: invitations.spaceId }).as(sql`
    UPDATE ${invitations} SET ${nameOf(invitations.revokedAt)} = now() FROM ${from}
    WHERE ${and(
      spaceId === undefined ? undefined : eq(invitations.spaceId, spaceId),
      isOpenInvitation,
      or(isOwn, and(eq(invitations.createdBy, userId), cannotInvite(role))),
    )}
    RETURNING ${invitations.id}, ${invitations.spaceId}`);
  const entry = { spaceId: revoked.spaceId, actor, action: 'invitation.revoke', target: revoked.id };
  return [revoked, auditPart(database, revoked, entry, 'audited_revoked')];
}

/** The condition that a user with the role could not make an invitation. */
function cannotInvite(role: Role | undefined): SQL | undefined {
  if (role === undefined || !hasRole(role, leastToInvite('viewer'))) return sql`true`;
  return hasRole(role, leastToInvite('owner')) ? sql`false` : eq(invitations.role, 'owner');
}
