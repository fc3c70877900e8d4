import { and, count, eq, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import { pick } from '../../../platform/pick.ts';
import { isoTimes } from '../../../platform/time.ts';
import {
  type Actor,
  auditChange,
  runAudited,
  userIdOf,
  withLeastRole,
} from '../../../store/accounts/audit/audit.ts';
import { normalizeEmail } from '../../../store/accounts/email.ts';
import { isOpenInvitation, leastToInvite } from '../../../store/accounts/open-invitations.ts';
import { type Role, roles } from '../../../store/accounts/role.ts';
import { createToken, hashToken } from '../../../store/accounts/secret-token.ts';
import type { Database } from '../../../store/db/database.ts';
import { invitations, memberships, users } from '../../../store/db/schema.ts';
import { listOf, nameOf, namesOf, replaced } from '../../../store/db/statement.ts';
import { openInvitationsMax } from '../accounts/limits.ts';

/** An open invitation as shown to the space's admins. Times are ISO 8601. */
export const openInvitation = z
  .object({
    id: z.guid(),
    email: z.string(),
    role: z.enum(roles),
    /** An e-mail address; null when the user was deleted. */
    createdBy: z.string().nullable(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'OpenInvitation' });
export type OpenInvitation = z.infer<typeof openInvitation>;

/** The token is only returned here. */
export const createdInvitation = z
  .object({
    id: z.guid(),
    /** The secret for joining, in the fragment of a link: `/invitation#<token>`. */
    token: z.string(),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'CreatedInvitation' });
export type CreatedInvitation = z.infer<typeof createdInvitation>;

/**
 * Replaces an open invitation to the same address, whose link becomes invalid.
 * @returns the reason when none was created: the person is a member, or too many invitations are open.
 */
export async function createInvitation(
  database: Database,
  spaceId: string,
  { email, role, ttlHours, actor }: { email: string; role: Role; ttlHours: number } & { actor: Actor },
): Promise<CreatedInvitation | 'is_member' | 'too_many'> {
  const token = createToken();
  const normalized = normalizeEmail(email);
  const isMember = database
    .select({ one: sql`1` })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.spaceId, spaceId), eq(users.email, normalized)));
  const open = database.select({ open: count() }).from(invitations).where(isOpen(spaceId));
  const columns = [
    invitations.spaceId,
    invitations.tokenHash,
    invitations.email,
    invitations.role,
    invitations.createdBy,
    invitations.expiresAt,
  ];
  const returned = pick(invitations, 'id', 'spaceId', 'expiresAt');
  const created = database.$with('created', returned).as(sql`
    INSERT INTO ${invitations} (${namesOf(columns)})
    SELECT ${spaceId}::uuid, ${hashToken(token)}::bytea, ${normalized}::text, ${role}::text, ${actor.id}::text,
      now() + ${ttlHours}::float8 * interval '1 hour'
    WHERE NOT EXISTS ${isMember} AND ${lt(sql`${open}`, openInvitationsMax)}
    ON CONFLICT (${namesOf([invitations.spaceId, invitations.email])})
      WHERE ${nameOf(invitations.acceptedAt)} IS NULL AND ${nameOf(invitations.revokedAt)} IS NULL
    DO UPDATE SET ${listOf([invitations.id, ...columns.slice(1), invitations.createdAt].map(replaced))}
    RETURNING ${namesOf(Object.values(returned))}`);
  const [row] = await runAudited(database, created, {
    spaceId: created.spaceId,
    // The actor may have lost the role since the call was checked.
    actor: withLeastRole(actor, leastToInvite(role)),
    action: 'invitation.create',
    target: created.id,
    details: { email: normalized, role },
  });
  if (row !== undefined) return { id: row.id, token, expiresAt: row.expiresAt.toISOString() };
  return (await isMember).length > 0 ? 'is_member' : 'too_many';
}

/** The invitations that can still be accepted, newest first. */
export async function listInvitations(database: Database, spaceId: string): Promise<OpenInvitation[]> {
  const rows = await database
    .select({
      ...pick(invitations, 'id', 'email', 'role'),
      createdBy: users.email,
      createdAt: invitations.createdAt,
      expiresAt: invitations.expiresAt,
    })
    .from(invitations)
    .leftJoin(users, eq(users.id, userIdOf(invitations.createdBy)))
    .where(isOpen(spaceId))
    .orderBy(sql`${invitations.id} DESC`);
  return rows.map(isoTimes);
}

/** @returns whether the space had the invitation. */
export async function revokeInvitation(
  database: Database,
  spaceId: string,
  { id, actor }: { id: string; actor: Actor },
): Promise<boolean> {
  const revocation = database
    .update(invitations)
    .set({ revokedAt: sql`now()` })
    .where(and(isOpen(spaceId), eq(invitations.id, id)))
    .returning({ id: invitations.id, spaceId: invitations.spaceId });
  return (await auditChange(database, revocation, { actor, action: 'invitation.revoke' })).length > 0;
}

function isOpen(spaceId: string) {
  return and(eq(invitations.spaceId, spaceId), isOpenInvitation);
}
