import { randomUUID } from 'node:crypto';
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { pick } from '../../../platform/pick.ts';
import { codeOf } from '../../../platform/thrown.ts';
import { isoTimes } from '../../../platform/time.ts';
import { type Actor, runAudited } from '../../../store/accounts/audit/audit.ts';
import { isMakerTrusted, isOpenInvitation } from '../../../store/accounts/open-invitations.ts';
import { hashPassword } from '../../../store/accounts/password.ts';
import { roles } from '../../../store/accounts/role.ts';
import { hashToken, isToken } from '../../../store/accounts/secret-token.ts';
import type { Database } from '../../../store/db/database.ts';
import { invitations, memberships, spaces, users } from '../../../store/db/schema.ts';
import { namesOf } from '../../../store/db/statement.ts';

/** An invitation as shown to the holder of its link before accepting it. */
export const invitationView = z
  .object({
    spaceName: z.string(),
    email: z.string(),
    role: z.enum(roles),
    expiresAt: z.iso.datetime(),
    /** Whether to sign in before accepting. Otherwise accepting creates the user, with a password. */
    hasAccount: z.boolean(),
  })
  .meta({ id: 'InvitationView' });
export type InvitationView = z.infer<typeof invitationView>;

/** The invitation was accepted or revoked, has expired, or never existed. */
export type InvitationGone = 'gone';

export interface Accepted {
  spaceId: string;
  /** The id of the created user; null when a signed-in user accepted. */
  newUserId: string | null;
}

/** SQLSTATE of a violated unique constraint. */
const uniqueViolation = '23505';

export type Invitations = ReturnType<typeof openInvitations>;

export function openInvitations(database: Database) {
  const look = (token: string) => (isToken(token) ? lookAt(database, token) : Promise.resolve(undefined));
  return {
    look,
    /** A role that the user already has in the space is kept. */
    acceptAs: async (
      { actor, email }: { actor: Actor; email: string },
      token: string,
    ): Promise<Accepted | 'other_email' | InvitationGone> => {
      const seen = await look(token);
      if (seen === undefined) return 'gone';
      if (seen.email !== email) return 'other_email';
      const spaceId = await accept(database, token, { userId: actor.id, actor });
      return spaceId === undefined ? 'gone' : { spaceId, newUserId: null };
    },
    acceptNew: async (
      token: string,
      password: string | undefined,
      address: string,
    ): Promise<Accepted | 'has_account' | 'needs_password' | InvitationGone> => {
      const seen = await look(token);
      if (seen === undefined) return 'gone';
      if (seen.hasAccount) return 'has_account';
      if (password === undefined) return 'needs_password';
      const passwordHash = await hashPassword(password);
      const userId = randomUUID();
      try {
        const spaceId = await accept(database, token, {
          userId,
          passwordHash,
          actor: { id: userId, address },
        });
        return spaceId === undefined ? 'gone' : { spaceId, newUserId: userId };
      } catch (error) {
        if (codeOf(error) === uniqueViolation) return 'has_account';
        throw error;
      }
    },
  };
}

async function lookAt(database: Database, token: string): Promise<InvitationView | undefined> {
  const [row] = await database
    .select({
      spaceName: spaces.name,
      ...pick(invitations, 'email', 'role', 'expiresAt'),
      hasAccount: sql<boolean>`${users.id} IS NOT NULL`,
    })
    .from(invitations)
    .innerJoin(spaces, eq(spaces.id, invitations.spaceId))
    .leftJoin(users, eq(users.email, invitations.email))
    .where(and(isOpen(database, token), isNull(spaces.deleteAt)));
  return row && isoTimes(row);
}

/**
 * In one statement: accepts the invitation, creates the user if there is a password, and adds the membership.
 * Of concurrent calls the first one wins.
 * @returns undefined when the invitation is not open.
 */
async function accept(
  database: Database,
  token: string,
  { userId, passwordHash, actor }: { userId: string; passwordHash?: string; actor: Actor },
): Promise<string | undefined> {
  const accepted = database.$with('accepted').as(
    database
      .update(invitations)
      .set({ acceptedAt: sql`now()` })
      .where(isOpen(database, token))
      .returning(pick(invitations, 'id', 'spaceId', 'email', 'role')),
  );
  const { spaceId } = accepted;
  const part = (name: string, rows: SQL) => database.$with(name, {}).as(rows);
  const created = part(
    'created',
    sql`
    INSERT INTO ${users} (${namesOf([users.id, users.email, users.passwordHash])})
    SELECT ${userId}::uuid, ${accepted.email}, ${passwordHash}::text FROM ${accepted}`,
  );
  const joined = part(
    'joined',
    sql`
    INSERT INTO ${memberships} (${namesOf([memberships.spaceId, memberships.userId, memberships.role])})
    SELECT ${spaceId}, ${userId}::uuid, ${accepted.role} FROM ${accepted}
    ON CONFLICT DO NOTHING`,
  );
  const entry = { spaceId, actor, action: 'invitation.accept', target: accepted.id, details: { userId } };
  const after = passwordHash === undefined ? [joined] : [created, joined];
  const [row] = await runAudited(database, accepted, { ...entry, after });
  return row?.spaceId;
}

function isOpen(database: Database, token: string) {
  return and(eq(invitations.tokenHash, hashToken(token)), isOpenInvitation, isMakerTrusted(database));
}
