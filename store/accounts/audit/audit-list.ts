import { and, desc, eq, inArray, lt } from 'drizzle-orm';
import { z } from 'zod';
import { pick } from '../../../platform/pick.ts';
import type { Database } from '../../db/database.ts';
import { apiKeys, auditLog, invitations, users } from '../../db/schema.ts';
import { userIdOf } from './audit.ts';

export const auditRow = z
  .object({
    id: z.guid(),
    at: z.iso.datetime(),
    /** A user's id, or `operator` for the command line and `weir start`. */
    actor: z.string(),
    /** The actor's current e-mail address; null for the operator, and for a deleted user. */
    actorEmail: z.string().nullable(),
    /** The network address of the request; null for the operator. */
    address: z.string().nullable(),
    /** Noun and verb: `api_key.create`. */
    action: z.string(),
    /** The id of the changed object; null when it is the space itself. */
    target: z.string().nullable(),
    /**
     * An e-mail address of a user or an invitation, a name of an API key; null for others, and once deleted.
     */
    targetName: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditRow' });
export type AuditRow = z.infer<typeof auditRow>;

export interface AuditQuery {
  /** Rows older than the one with this id. */
  before?: string | undefined;
  action?: string | undefined;
  actor?: string | undefined;
  limit: number;
}

/** The rows of a space, or of the operator's log ({@link noSpace}), newest first. */
export async function listAudit(
  database: Database,
  spaceId: string,
  { before, action, actor, limit }: AuditQuery,
): Promise<AuditRow[]> {
  const rows = await database
    .select({
      id: auditLog.id,
      at: auditLog.createdAt,
      actor: auditLog.actor,
      actorEmail: users.email,
      ...pick(auditLog, 'address', 'action', 'target', 'details'),
    })
    .from(auditLog)
    .leftJoin(users, eq(users.id, userIdOf(auditLog.actor)))
    .where(
      and(
        eq(auditLog.spaceId, spaceId),
        before === undefined ? undefined : lt(auditLog.id, before),
        action === undefined ? undefined : eq(auditLog.action, action),
        actor === undefined ? undefined : eq(auditLog.actor, actor),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(limit);
  const names = await nameTargets(database, spaceId, rows);
  return rows.map((row) => ({
    ...row,
    at: row.at.toISOString(),
    targetName: names.get(row.target ?? '') ?? null,
  }));
}

/** The names of the rows' targets, by id. Each look-up is by primary key. */
async function nameTargets(
  database: Database,
  spaceId: string,
  rows: readonly Pick<AuditRow, 'action' | 'target'>[],
): Promise<Map<string, string>> {
  const idsOf = (...nouns: string[]) => [
    ...new Set(
      rows.flatMap(({ action, target }) =>
        target !== null && nouns.includes(action.split('.')[0] ?? '') ? [target] : [],
      ),
    ),
  ];
  const found = await Promise.all([
    database
      .select({ id: users.id, name: users.email })
      .from(users)
      .where(inArray(users.id, idsOf('member', 'user'))),
    database
      .select({ id: apiKeys.id, name: apiKeys.name })
      .from(apiKeys)
      .where(and(eq(apiKeys.spaceId, spaceId), inArray(apiKeys.id, idsOf('api_key')))),
    database
      .select({ id: invitations.id, name: invitations.email })
      .from(invitations)
      .where(and(eq(invitations.spaceId, spaceId), inArray(invitations.id, idsOf('invitation')))),
  ]);
  return new Map(found.flat().map(({ id, name }) => [id, name ?? '']));
}
