import { and, eq } from 'drizzle-orm';
import type { Database, Transaction } from '../db/database.ts';
import { memberships } from '../db/schema.ts';
import { operator, runAudited } from './audit/audit.ts';
import { revokeRights } from './open-invitations.ts';
import type { Role } from './role.ts';

export interface Membership {
  spaceId: string;
  role: Role;
}

/** Sets a role; user and space must exist. Revokes open invitations that would give the user more. */
export async function setRole(
  database: Database | Transaction,
  spaceId: string,
  { userId, role }: { userId: string; role: Role },
): Promise<void> {
  const changed = database.$with('changed').as(
    database
      .insert(memberships)
      .values({ spaceId, userId, role })
      .onConflictDoUpdate({ target: [memberships.spaceId, memberships.userId], set: { role } })
      .returning({ spaceId: memberships.spaceId }),
  );
  const lost = { from: changed, spaceId: changed.spaceId, userId, role, actor: operator };
  await runAudited(database, changed, {
    spaceId: changed.spaceId,
    actor: operator,
    action: 'member.set',
    target: userId,
    details: { userId, role },
    after: revokeRights(database, lost),
  });
}

/** Removes a member, and the open invitations made by and to the user. Others are left alone. */
export async function removeRole(database: Database, spaceId: string, userId: string): Promise<void> {
  const changed = database.$with('changed').as(
    database
      .delete(memberships)
      .where(and(eq(memberships.spaceId, spaceId), eq(memberships.userId, userId)))
      .returning({ spaceId: memberships.spaceId }),
  );
  const lost = { from: changed, spaceId: changed.spaceId, userId, role: undefined, actor: operator };
  await runAudited(database, changed, {
    spaceId: changed.spaceId,
    actor: operator,
    action: 'member.remove',
    target: userId,
    details: { userId },
    after: revokeRights(database, lost),
  });
}
