import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import { pick } from '../../platform/pick.ts';
import type { Database, Transaction } from '../db/database.ts';
import { identities, memberships, sessions, signInLinks, spaces, users } from '../db/schema.ts';
import { auditChange, operator, runAudited } from './audit/audit.ts';
import { normalizeEmail } from './email.ts';
import { type Membership, setRole } from './memberships.ts';
import { revokeRights } from './open-invitations.ts';
import { hashPassword } from './password.ts';
import {
  removeSecondFactors,
  type SecondFactors,
  secondFactorColumns,
} from './second-factor/second-factors.ts';

export interface UserInfo {
  userId: string;
  email: string;
  createdAt: Date;
  /** When the operator or an OpenID provider verified the address; null after an invitation only. */
  emailVerifiedAt: Date | null;
  /** When the user was disabled; null for an enabled user. */
  disabledAt: Date | null;
  /** Since when the user is an operator of the installation; null for other users. */
  operatorSince: Date | null;
  secondFactors: SecondFactors;
  spaces: (Membership & { name: string })[];
}

/** Every space must exist. @returns undefined when another user has the e-mail address. */
export async function createUser(
  database: Database,
  user: { email: string; password: string; memberships: readonly Membership[] },
): Promise<{ userId: string } | undefined> {
  const email = normalizeEmail(user.email);
  const passwordHash = await hashPassword(user.password);
  return database.transaction(async (transaction) => {
    const creation = transaction
      .insert(users)
      .values({ email, passwordHash, emailVerifiedAt: sql`now()` })
      .onConflictDoNothing()
      .returning({ userId: users.id });
    const [row] = await auditChange(transaction, creation, { actor: operator, action: 'user.create' });
    if (row === undefined) return undefined;
    for (const { spaceId, role } of user.memberships) {
      await setRole(transaction, spaceId, { userId: row.userId, role });
    }
    return row;
  });
}

/** Ends the user's sessions and sign-in links, with an audit row in each of the user's spaces. */
export async function setPassword(database: Database, userId: string, password: string): Promise<void> {
  const passwordHash = await hashPassword(password);
  await changeUser(database, userId, { action: 'user.password', set: { passwordHash }, details: { userId } });
}

/** Disabling ends sessions and sign-in links, and revokes the user's invitations; memberships stay. */
export async function setDisabled(database: Database, userId: string, isDisabled: boolean): Promise<void> {
  await changeUser(database, userId, {
    action: isDisabled ? 'user.disable' : 'user.enable',
    set: { disabledAt: isDisabled ? sql`now()` : null },
    where: isDisabled ? isNull(users.disabledAt) : isNotNull(users.disabledAt),
    revokesInvitations: isDisabled,
  });
}

/** An operator sees the installation's state in the dashboard. Ends the user's sessions and sign-in links. */
export async function setOperator(database: Database, userId: string, isOperator: boolean): Promise<void> {
  await changeUser(database, userId, {
    action: isOperator ? 'user.grant_operator' : 'user.revoke_operator',
    set: { operatorSince: isOperator ? sql`now()` : null },
    where: isOperator ? isNull(users.operatorSince) : isNotNull(users.operatorSince),
  });
}

/**
 * Returns an account to the owner of its e-mail address, after somebody else accepted an invitation to it:
 * sets a password, and ends second factors, single sign-on, sessions, links and invitations. Memberships
 * stay.
 */
export async function reclaimUser(database: Database, userId: string, password: string): Promise<void> {
  const passwordHash = await hashPassword(password);
  await changeUser(database, userId, {
    action: 'user.reclaim',
    set: { passwordHash, emailVerifiedAt: sql`now()` },
    revokesInvitations: true,
    async alsoChange(transaction) {
      await transaction.delete(identities).where(eq(identities.userId, userId));
      await removeSecondFactors(transaction, userId);
    },
  });
}

/** App, passkeys and recovery codes; ends the user's sessions and sign-in links. */
export async function resetSecondFactor(database: Database, userId: string): Promise<void> {
  await changeUser(database, userId, {
    action: 'user.reset_second_factor',
    // The row is only locked, so that no factor is added meanwhile.
    set: { id: userId },
    alsoChange: (transaction) => removeSecondFactors(transaction, userId),
  });
}

interface UserChange {
  action: string;
  set: PgUpdateSetSource<typeof users>;
  /** The user is only changed, and the change only recorded, if this holds. */
  where?: SQL;
  details?: Record<string, unknown>;
  /** Whether the open invitations made by and to the user are revoked. */
  revokesInvitations?: boolean;
  alsoChange?: (transaction: Transaction) => Promise<void>;
}

/**
 * Changes a user, with audit rows in their spaces; ends sessions and links after `alsoChange`, all at once.
 */
async function changeUser(
  database: Database,
  userId: string,
  { action, set, where, details = {}, revokesInvitations = false, alsoChange }: UserChange,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const changed = transaction.$with('changed').as(
      transaction
        .update(users)
        .set(set)
        .where(and(eq(users.id, userId), where))
        .returning({ userId: users.id }),
    );
    const entry = { userId: changed.userId, actor: operator, action, target: userId, details };
    const lost = { from: changed, spaceId: undefined, userId, role: undefined, actor: operator };
    const after = revokesInvitations ? revokeRights(transaction, lost) : [];
    await runAudited(transaction, changed, { ...entry, after });
    await alsoChange?.(transaction);
    await endSessions(transaction, userId);
  });
}

/** Whether the operator or an OpenID provider has verified the user's e-mail address. */
export async function isEmailVerified(database: Database, userId: string): Promise<boolean> {
  const [user] = await database
    .select({ emailVerifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(eq(users.id, userId));
  return user !== undefined && user.emailVerifiedAt !== null;
}

/**
 * Makes the person who started the installation its operator and a space's owner. An existing user gets the
 * new password, and all sessions end. @throws Error when the space does not exist.
 */
export async function createOwner(
  database: Database,
  owner: { email: string; password: string; spaceId: string },
): Promise<void> {
  const email = normalizeEmail(owner.email);
  const passwordHash = await hashPassword(owner.password);
  // One transaction: a user without the membership could sign in and see nothing.
  await database.transaction(async (transaction) => {
    const change = transaction
      .insert(users)
      .values({ email, passwordHash, emailVerifiedAt: sql`now()`, operatorSince: sql`now()` })
      .onConflictDoUpdate({
        target: users.email,
        set: { passwordHash, operatorSince: sql`coalesce(${users.operatorSince}, now())` },
      })
      .returning({ userId: users.id });
    const [user] = await auditChange(transaction, change, { actor: operator, action: 'user.password' });
    if (user === undefined) throw new Error('INSERT returned no user');
    await endSessions(transaction, user.userId);
    await setRole(transaction, owner.spaceId, { userId: user.userId, role: 'owner' });
  });
}

/** @returns undefined when no user has the e-mail address. */
export async function findUserId(database: Database, email: string): Promise<string | undefined> {
  const [user] = await database
    .select({ id: users.id })
    .from(users)
    .where(eq(users.email, normalizeEmail(email)));
  return user?.id;
}

/** All users with their spaces, ordered by e-mail address. */
export async function listUsers(database: Database): Promise<UserInfo[]> {
  const rows = await database
    .select({
      user: {
        userId: users.id,
        ...pick(users, 'email', 'createdAt', 'emailVerifiedAt', 'disabledAt', 'operatorSince'),
      },
      secondFactors: secondFactorColumns,
      spaceId: spaces.id,
      name: spaces.name,
      role: memberships.role,
    })
    .from(users)
    .leftJoin(memberships, eq(memberships.userId, users.id))
    .leftJoin(spaces, eq(spaces.id, memberships.spaceId))
    .orderBy(users.email, spaces.id);
  const listed = new Map<string, UserInfo>();
  for (const { user, secondFactors, spaceId, name, role } of rows) {
    const shown = listed.get(user.userId) ?? { ...user, secondFactors, spaces: [] };
    listed.set(user.userId, shown);
    if (spaceId !== null && name !== null && role !== null) shown.spaces.push({ spaceId, name, role });
  }
  return [...listed.values()];
}

/** Ends every session, and every link that would open one. */
async function endSessions(transaction: Transaction, userId: string): Promise<void> {
  await transaction.delete(sessions).where(eq(sessions.userId, userId));
  await transaction.delete(signInLinks).where(eq(signInLinks.userId, userId));
}
