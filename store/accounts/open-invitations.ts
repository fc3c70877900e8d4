import { and, eq, gt, isNull, ne, or, type SQL, type SQLWrapper, sql, type WithSubquery } from 'drizzle-orm';
import type { Database, Transaction } from '../db/database.ts';
import { alertTargets, invitations, memberships, users } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import { type Actor, auditPart, operator } from './audit/audit.ts';
import { hasRole, type Role } from './role.ts';

/** Open invitations, and what is revoked when their maker or recipient loses rights. */

/** The condition that an invitation was neither accepted nor revoked, and has not expired. */
export const isOpenInvitation = and(
  isNull(invitations.acceptedAt),
  isNull(invitations.revokedAt),
  gt(invitations.expiresAt, sql`now()`),
);

/** The least role that may invite to a role: only owners invite owners. */
export function leastToInvite(invited: Role): Role {
  return invited === 'owner' ? 'owner' : 'admin';
}

/** Whether the maker could still invite. Checked at acceptance, since a concurrent revocation misses it. */
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

export interface LostRights {
  /** The CTE that removes the rights; when it changes no row, nothing is revoked. */
  from: WithSubquery;
  /** The column with the space; undefined for all spaces. */
  spaceId: SQLWrapper | undefined;
  userId: string;
  /** The user's new role; undefined for none. */
  role: Role | undefined;
  actor: Actor;
}

/**
 * CTEs that revoke open invitations and, for a loss of all rights, targets that are the user's own address.
 */
export function revokeRights(database: Database | Transaction, lost: LostRights): WithSubquery[] {
  const removed = lost.role === undefined ? removeReceivers(database, lost) : [];
  return [...revokeInvitations(database, lost), ...removed];
}

/**
 * CTEs that revoke the invitations by which the user could regain lost rights: those made by the user that
 * the new role may not make, and those to the user's own e-mail address.
 */
function revokeInvitations(
  database: Database | Transaction,
  { from, spaceId, userId, role, actor }: LostRights,
): WithSubquery[] {
  const isOwn = sql`${invitations.email} = ${emailOf(userId)}`;
  const revoked = database.$with('revoked', { id: invitations.id, spaceId: invitations.spaceId }).as(sql`
    UPDATE ${invitations} SET ${nameOf(invitations.revokedAt)} = now() FROM ${from}
    WHERE ${and(
      spaceId === undefined ? undefined : eq(invitations.spaceId, spaceId),
      isOpenInvitation,
      or(isOwn, and(eq(invitations.createdBy, userId), cannotInvite(role))),
    )}
    RETURNING ${invitations.id}, ${invitations.spaceId}`);
  const entry = { spaceId: revoked.spaceId, actor, action: 'invitation.revoke', target: revoked.id };
  return [revoked, auditPart(database, revoked, { ...entry, name: 'audited_revoked' })];
}

function removeReceivers(
  database: Database | Transaction,
  { from, spaceId, userId, actor }: LostRights,
): WithSubquery[] {
  const removed = database
    .$with('removed_targets', { id: alertTargets.id, spaceId: alertTargets.spaceId })
    .as(sql`
    DELETE FROM ${alertTargets} USING ${from}
    WHERE ${and(
      spaceId === undefined ? undefined : eq(alertTargets.spaceId, spaceId),
      eq(alertTargets.kind, 'email'),
      // As email.ts does, whatever the locale of the database.
      sql`lower(${alertTargets.address} COLLATE "pg_unicode_fast") = ${emailOf(userId)}`,
    )}
    RETURNING ${alertTargets.id}, ${alertTargets.spaceId}`);
  const entry = { spaceId: removed.spaceId, actor, action: 'alert_target.remove', target: removed.id };
  return [removed, auditPart(database, removed, { ...entry, name: 'audited_removed_targets' })];
}

function emailOf(userId: string): SQL {
  return sql`(SELECT ${users.email} FROM ${users} WHERE ${eq(users.id, userId)})`;
}

function cannotInvite(role: Role | undefined): SQL | undefined {
  if (role === undefined || !hasRole(role, leastToInvite('viewer'))) return sql`true`;
  return hasRole(role, leastToInvite('owner')) ? sql`false` : eq(invitations.role, 'owner');
}
