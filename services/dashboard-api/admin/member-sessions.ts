import { and, eq, exists, inArray, ne, or, sql } from 'drizzle-orm';
import { type Actor, runAudited } from '../../../store/accounts/audit/audit.ts';
import type { Database } from '../../../store/db/database.ts';
import { memberships, sessions } from '../../../store/db/schema.ts';

/**
 * Ends all sessions of a member, also those used for other spaces: a session belongs to a user. Only an owner may end those of an
 * owner. The audit log of this space gets a row for each session.
 *
 * @returns the number of sessions; or why none may be ended.
 * @throws GrantLostError
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
      .where(
        and(
          eq(memberships.spaceId, spaceId),
          eq(memberships.userId, actor.id),
          eq(memberships.role, 'owner'),
        ),
      ),
  );
  const member = and(eq(memberships.spaceId, spaceId), eq(memberships.userId, userId));
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
