import { and, eq, exists, gt, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import postgres from 'postgres';
import type { Database, Transaction } from '../../db/database.ts';
import { auditLog, memberships, sessions, users } from '../../db/schema.ts';
import { hasRole, type Role, roles } from '../role.ts';

/** The authority of a dashboard user for a change. It is checked when a call begins, and again in the statement of the change. */
export interface Grant {
  /** The session of the call. It must not have ended, and its user must not be disabled. */
  readonly sessionId: string;
  /** The least role that the user must still have. Without `spaceId`: in any space. */
  readonly role?: { readonly least: Role; readonly spaceId?: string };
}

/** The actor's session ended, or the actor lost the role, after the call was checked. Nothing was changed. */
export class GrantLostError extends Error {
  override name = 'GrantLostError';
}

/**
 * The user's id while the grant is valid, otherwise NULL. It is inserted as the actor of the audit row, and that column is
 * NOT NULL, so that the statement, which includes the change, fails.
 */
export function grantedId(database: Database | Transaction, userId: string, { sessionId, role }: Grant): SQL {
  const isMember =
    role &&
    exists(
      database
        .select({ one: sql`1` })
        .from(memberships)
        .where(
          and(
            eq(memberships.userId, userId),
            role.spaceId === undefined ? undefined : eq(memberships.spaceId, role.spaceId),
            inArray(
              memberships.role,
              roles.filter((one) => hasRole(one, role.least)),
            ),
          ),
        ),
    );
  const held = database
    .select({ id: sql`${sessions.userId}::text` })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        isNull(users.disabledAt),
        eq(sessions.id, sessionId),
        eq(sessions.userId, userId),
        gt(sessions.expiresAt, sql`now()`),
        isMember,
      ),
    );
  return sql`${held}`;
}

const notNullViolation = '23502';

/** @throws GrantLostError when the statement failed for a lost grant; otherwise the error itself. */
export function throwGrantLost(error: unknown): never {
  const isLost =
    error instanceof postgres.PostgresError &&
    error.code === notNullViolation &&
    error.column_name === auditLog.actor.name;
  throw isLost ? new GrantLostError('the actor may not make this change any more', { cause: error }) : error;
}
