import { and, eq, exists, gt, inArray, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import postgres from 'postgres';
import type { Database, Transaction } from '../../db/database.ts';
import { auditLog, memberships, sessions, spaces, users } from '../../db/schema.ts';
import { hasRole, type Role, roles } from '../role.ts';

/** A dashboard user's authority for a change, checked when a call begins, and in the change's statement. */
export interface Grant {
  /** Must not have ended, and its user must not be disabled. */
  readonly sessionId: string;
  /** The role that the user must still have. A space marked as deleted counts only with `isOfDeleted`. */
  readonly role?: { readonly least: Role; readonly spaceId?: string; readonly isOfDeleted?: boolean };
  /** How long ago the session may have authenticated, for a change that widens access. */
  readonly authenticatedWithinMs?: number;
}

/** The actor lost session or role after the call was checked. Nothing was changed. */
export class GrantLostError extends Error {
  override name = 'GrantLostError';
}

/** The session authenticated too long ago; the rest of the grant is valid. Nothing was changed. */
export class ConfirmationNeededError extends Error {
  override name = 'ConfirmationNeededError';
}

/** The user's id, or NULL without the grant: the audit row's actor is NOT NULL, so the statement fails. */
export function grantedId(
  database: Database | Transaction,
  userId: string,
  { sessionId, role, authenticatedWithinMs }: Grant,
): SQL {
  const isMember =
    role &&
    exists(
      database
        .select({ one: sql`1` })
        .from(memberships)
        .innerJoin(spaces, eq(spaces.id, memberships.spaceId))
        .where(
          and(
            eq(memberships.userId, userId),
            role.isOfDeleted === true ? undefined : isNull(spaces.deleteAt),
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
        authenticatedWithinMs === undefined
          ? undefined
          : gt(
              sessions.authenticatedAt,
              sql`now() - ${authenticatedWithinMs}::float8 * interval '1 millisecond'`,
            ),
        isMember,
      ),
    );
  return sql`${held}`;
}

const notNullViolation = '23502';

/**
 * Rethrows the error of a statement that inserts `grantedId`.
 * @throws ConfirmationNeededError or GrantLostError when the grant was not valid; otherwise the error itself.
 */
export async function throwGrantLost(
  database: Database | Transaction,
  { id, grant }: { readonly id: string | SQLWrapper; readonly grant?: Grant },
  error: unknown,
): Promise<never> {
  const isLost =
    error instanceof postgres.PostgresError &&
    error.code === notNullViolation &&
    error.column_name === auditLog.actor.name;
  if (!isLost) throw error;
  if (grant?.authenticatedWithinMs !== undefined && typeof id === 'string') {
    const { authenticatedWithinMs: _, ...rest } = grant;
    const [held] = await database.execute(sql`SELECT ${grantedId(database, id, rest)} AS id`);
    if (typeof held?.id === 'string')
      throw new ConfirmationNeededError('the session authenticated too long ago', { cause: error });
  }
  throw new GrantLostError('the actor is no longer allowed to make this change', { cause: error });
}
