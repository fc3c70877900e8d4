import { and, desc, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import { type Actor, auditChange, runAudited } from '../../../store/accounts/audit/audit.ts';
import type { Role } from '../../../store/accounts/role.ts';
import { createToken, hashToken, isToken } from '../../../store/accounts/secret-token.ts';
import type { Database } from '../../../store/db/database.ts';
import { sessions, users } from '../../../store/db/schema.ts';
import type { CodeKind } from '../second-factor/codes.ts';
import { isLiveSession, noteUse, prepareFind, toSessionUser } from './find-session.ts';
import { sessionsMax, sessionTtlMs, ssoSessionTtlMs } from './limits.ts';

export interface UserSpace {
  id: string;
  name: string;
  role: Role;
  /** The end of the grace; null for a space that is not marked as deleted. */
  deleteAt: Date | null;
}

/** A caller of the procedures of spaces: a session's user, or a read key (read-keys.ts). */
export interface SpaceUser {
  sessionId: string;
  userId: string;
  /**
   * The person whose share of statements, streams and downloads counts: the user, or a read key's creator.
   */
  holderId: string;
  /** The space of calls without a `spaceId`: the selected one, or the user's only one; otherwise null. */
  currentSpaceId: string | null;
  spaces: UserSpace[];
}

export type SessionUser = NonNullable<ReturnType<typeof toSessionUser>>;

export interface Authenticated {
  id: string;
  passwordHash?: string;
  authenticatedAt?: Date | undefined;
  /** The code that was given as well, for the audit log. */
  secondFactor?: CodeKind;
}

export interface SessionClient {
  address: string;
  userAgent: string | null;
}

export type SignInMethod = 'password' | 'passkey' | 'link' | 'invitation' | 'sso';

const returned = { id: sessions.id, userId: sessions.userId };

export type Sessions = ReturnType<typeof openSessions>;

/**
 * Postgres only has the SHA-256 hashes of the tokens.
 * @param options `isSecondFactorRequired`: SECOND_FACTOR_REQUIRED.
 */
export function openSessions(
  database: Database,
  { isSecondFactorRequired }: { isSecondFactorRequired: boolean },
) {
  const findRows = prepareFind(database);
  return {
    /**
     * @param user `passwordHash`: against which a password was just verified. `authenticatedAt`: if earlier
     * than now: an OpenID provider may reuse its session.
     * @returns the token; undefined when the user is disabled or deleted, or the password was changed
     * meanwhile.
     */
    open: (user: Authenticated, client: SessionClient, method: SignInMethod) =>
      openSession(database, user, { ...client, method }),
    /** @returns undefined for an unknown, ended, expired or long unused session, or a disabled user. */
    find: async (token: string): Promise<SessionUser | undefined> => {
      if (!isToken(token)) return undefined;
      const rows = await findRows.execute({ hash: hashToken(token) });
      if (rows[0]?.isUseOld) await noteUse(database, sessions, rows[0].sessionId);
      return toSessionUser(rows, isSecondFactorRequired);
    },
    /**
     * Records that the user has just authenticated again.
     * @param passwordHash against which the password was verified; undefined for a passkey.
     * @returns false when the session has ended, or the password was changed meanwhile.
     */
    confirm: (actor: Actor, sessionId: string, passwordHash?: string) =>
      confirmSession(database, actor, { sessionId, passwordHash }),
    /** Ends a session. Ending one that does not exist changes nothing. */
    close: (token: string, address: string) => closeSession(database, token, address),
  };
}

async function openSession(
  database: Database,
  { id: userId, passwordHash, authenticatedAt, secondFactor }: Authenticated,
  { address, userAgent, method }: SessionClient & { method: SignInMethod },
): Promise<string | undefined> {
  await deleteOld(database, userId);
  const token = createToken();
  // Locks the user: if the password changes between check and insert, no session is opened.
  const verified = database.$with('verified').as(
    database
      .select({ userId: users.id })
      .from(users)
      .where(
        and(
          eq(users.id, userId),
          isNull(users.disabledAt),
          passwordHash === undefined ? undefined : eq(users.passwordHash, passwordHash),
        ),
      )
      .for('share'),
  );
  const row = database
    .select({
      tokenHash: sql<Buffer>`${hashToken(token)}::bytea`.as(sessions.tokenHash.name),
      userId: verified.userId,
      createdAt: sql<Date>`now()`.as(sessions.createdAt.name),
      expiresAt:
        sql<Date>`now() + ${method === 'sso' ? ssoSessionTtlMs : sessionTtlMs}::float8 * interval '1 millisecond'`.as(
          sessions.expiresAt.name,
        ),
      id: sql<string>`uuidv7()`.as(sessions.id.name),
      lastUsedAt: sql<Date>`now()`.as(sessions.lastUsedAt.name),
      // The provider's clock may be ahead.
      authenticatedAt: sql<Date>`least(now(), ${authenticatedAt?.toISOString() ?? null}::timestamptz)`.as(
        sessions.authenticatedAt.name,
      ),
      userAgent: sql<string | null>`${userAgent}::text`.as(sessions.userAgent.name),
      address: sql<string>`${address}::text`.as(sessions.address.name),
      spaceId: sql<string | null>`NULL::uuid`.as(sessions.spaceId.name),
    })
    .from(verified);
  const rows = await auditChange(database, database.insert(sessions).select(row).returning(returned), {
    actor: { id: userId, address },
    action: 'session.open',
    details: { method, ...(secondFactor !== undefined && { secondFactor }) },
    before: [verified],
  });
  return rows.length === 1 ? token : undefined;
}

/** Deletes expired sessions, and the least recently used above the limit. No other clean-up is needed. */
async function deleteOld(database: Database, userId: string): Promise<void> {
  const beyond = database
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.lastUsedAt))
    .offset(sessionsMax - 1);
  const isOld = or(sql`NOT ${isLiveSession}`, inArray(sessions.id, beyond));
  await database.delete(sessions).where(and(eq(sessions.userId, userId), isOld));
}

async function confirmSession(
  database: Database,
  actor: Actor,
  { sessionId, passwordHash }: { sessionId: string; passwordHash: string | undefined },
): Promise<boolean> {
  const confirmation = database
    .update(sessions)
    .set({ authenticatedAt: sql`now()` })
    .from(users)
    .where(
      and(
        eq(sessions.id, sessionId),
        eq(sessions.userId, actor.id),
        eq(users.id, sessions.userId),
        passwordHash === undefined ? undefined : eq(users.passwordHash, passwordHash),
      ),
    )
    .returning(returned);
  return (await auditChange(database, confirmation, { actor, action: 'session.confirm' })).length === 1;
}

async function closeSession(database: Database, token: string, address: string): Promise<void> {
  const closed = database.$with('closed').as(
    database
      .delete(sessions)
      .where(eq(sessions.tokenHash, hashToken(token)))
      .returning(returned),
  );
  await runAudited(database, closed, {
    userId: closed.userId,
    actor: { id: sql`${closed.userId}`, address },
    action: 'session.close',
    target: closed.id,
  });
}
