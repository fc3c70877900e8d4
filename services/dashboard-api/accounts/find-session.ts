import { and, eq, gt, isNull, lt, sql } from 'drizzle-orm';
import { secondFactorColumns } from '../../../store/accounts/second-factor/second-factors.ts';
import type { Database } from '../../../store/db/database.ts';
import { type apiKeys, memberships, sessions, spaces, users } from '../../../store/db/schema.ts';
import { sessionIdleMs, sessionUseMs } from './limits.ts';

/** The condition that a session has not expired and was used recently enough. */
export const isLiveSession = sql`(${gt(sessions.expiresAt, sql`now()`)}
  AND ${gt(sessions.lastUsedAt, sql`now() - ${sql.raw(String(sessionIdleMs))} * interval '1 millisecond'`)})`;

/** One row for each space of the session's user; a single row without a space if there is none. */
export function prepareFind(database: Database) {
  return database
    .select({
      sessionId: sessions.id,
      userId: users.id,
      email: users.email,
      hasPassword: sql<boolean>`${users.passwordHash} IS NOT NULL`,
      isOperator: sql<boolean>`${users.operatorSince} IS NOT NULL`,
      ...secondFactorColumns,
      chosenSpaceId: sessions.spaceId,
      isUseOld: sql<boolean>`${lt(sessions.lastUsedAt, sql`now() - ${sql.raw(String(sessionUseMs))} * interval '1 millisecond'`)}`,
      spaceId: spaces.id,
      name: spaces.name,
      deleteAt: spaces.deleteAt,
      role: memberships.role,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(memberships, eq(memberships.userId, users.id))
    .leftJoin(spaces, eq(spaces.id, memberships.spaceId))
    .where(and(eq(sessions.tokenHash, sql.placeholder('hash')), isLiveSession, isNull(users.disabledAt)))
    .orderBy(spaces.id)
    .prepare('session');
}

type SessionRow = Awaited<ReturnType<ReturnType<typeof prepareFind>['execute']>>[number];

/** @returns undefined without a row. */
export function toSessionUser(rows: SessionRow[], isSecondFactorRequired: boolean) {
  const [first] = rows;
  if (first === undefined) return undefined;
  const own = rows.flatMap(({ spaceId, name, role, deleteAt }) =>
    spaceId === null || name === null || role === null ? [] : [{ id: spaceId, name, role, deleteAt }],
  );
  const [only] = own;
  // The user may have been removed from the selected space.
  const chosen = own.find(({ id }) => id === first.chosenSpaceId);
  return {
    sessionId: first.sessionId,
    userId: first.userId,
    holderId: first.userId,
    email: first.email,
    /** False for a user who can only use single sign-on. */
    hasPassword: first.hasPassword,
    /** Whether the user may see the state of the installation. */
    isOperator: first.isOperator,
    secondFactors: { totp: first.totp, passkey: first.passkey },
    /**
     * Whether the user has to add a second factor before anything else. Without a password the OpenID
     * provider is responsible for them.
     */
    mustEnrol: isSecondFactorRequired && first.hasPassword && !first.totp && !first.passkey,
    currentSpaceId: chosen?.id ?? (own.length === 1 && only !== undefined ? only.id : null),
    spaces: own,
  };
}

/** A failure, such as a read-only Postgres, does not fail the call. */
export async function noteUse(
  database: Database,
  table: typeof sessions | typeof apiKeys,
  id: string,
): Promise<void> {
  await database
    .update(table)
    .set({ lastUsedAt: sql`now()` })
    .where(eq(table.id, id))
    .catch(() => {});
}
