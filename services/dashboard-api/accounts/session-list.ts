import { and, desc, eq, ne } from 'drizzle-orm';
import { z } from 'zod';
import { pick } from '../../../platform/pick.ts';
import { isoTimes } from '../../../platform/time.ts';
import { type Actor, auditChange } from '../../../store/accounts/audit/audit.ts';
import type { Database } from '../../../store/db/database.ts';
import { sessions } from '../../../store/db/schema.ts';
import { isLiveSession } from './find-session.ts';

/** A session as shown to its user. Times are ISO 8601. */
export const listedSession = z
  .object({
    id: z.guid(),
    /** The User-Agent header and network address with which it was opened. */
    userAgent: z.string().nullable(),
    address: z.string().nullable(),
    createdAt: z.iso.datetime(),
    /** Updated at most once a minute. */
    lastUsedAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    isCurrent: z.boolean(),
  })
  .meta({ id: 'ListedSession' });
export type ListedSession = z.infer<typeof listedSession>;

export type SessionList = ReturnType<typeof openSessionList>;

export function openSessionList(database: Database) {
  return {
    /** The sessions that have not expired, most recently used first. */
    list: (user: { userId: string; sessionId: string }) => listSessions(database, user),
    /** @returns whether the user had the session. */
    revoke: async (user: Actor, id: string) => {
      const isOne = and(eq(sessions.userId, user.id), eq(sessions.id, id));
      return (await endSessions(database, isOne, user)) > 0;
    },
    /** @returns how many ended. */
    revokeOthers: (user: Actor, sessionId: string) => {
      const isOther = and(eq(sessions.userId, user.id), ne(sessions.id, sessionId));
      return endSessions(database, isOther, user);
    },
    /** Sets the session's default space for calls without a `spaceId`. */
    switchSpace: async (sessionId: string, spaceId: string) => {
      await database.update(sessions).set({ spaceId }).where(eq(sessions.id, sessionId));
    },
  };
}

async function listSessions(
  database: Database,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<ListedSession[]> {
  const rows = await database
    .select(pick(sessions, 'id', 'userAgent', 'address', 'createdAt', 'lastUsedAt', 'expiresAt'))
    .from(sessions)
    .where(and(eq(sessions.userId, userId), isLiveSession))
    .orderBy(desc(sessions.lastUsedAt), sessions.id);
  return rows.map((row) => ({ ...isoTimes(row), isCurrent: row.id === sessionId }));
}

async function endSessions(database: Database, which: ReturnType<typeof and>, actor: Actor): Promise<number> {
  const { id, userId } = sessions;
  const ending = database.delete(sessions).where(which).returning({ id, userId });
  return (await auditChange(database, ending, { actor, action: 'session.revoke' })).length;
}
