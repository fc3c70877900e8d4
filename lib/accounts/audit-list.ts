import { and, desc, eq, lt } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '../db/database.ts';
import { auditLog, users } from '../db/schema.ts';
import { userIdOf } from './audit.ts';

/** A row of an audit log. */
export const auditRow = z
  .object({
    id: z.guid(),
    /** ISO 8601. */
    at: z.iso.datetime(),
    /** A user's id, or `operator` for the command line and `npm start`. */
    actor: z.string(),
    /** The e-mail address that the actor has now; null for the operator, and for one who is no user any more. */
    actorEmail: z.string().nullable(),
    /** The network address that asked for the change; null for the operator's. */
    address: z.string().nullable(),
    /** Noun and verb: `api_key.create`. */
    action: z.string(),
    /** The id of what was changed, where it is not the space itself. */
    target: z.string().nullable(),
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

/** The newest rows of a space first, or of what belongs to no space ({@link noSpace}). */
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
      address: auditLog.address,
      action: auditLog.action,
      target: auditLog.target,
      details: auditLog.details,
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
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }));
}
