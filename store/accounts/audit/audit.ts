import { type ColumnsSelection, eq, type SQL, type SQLWrapper, sql, type WithSubquery } from 'drizzle-orm';
import type { TypedQueryBuilder } from 'drizzle-orm/query-builders/query-builder';
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types';
import type { Database, Transaction } from '../../db/database.ts';
import { noSpace } from '../../db/limits.ts';
import { auditLog, memberships } from '../../db/schema.ts';
import { namesOf } from '../../db/statement.ts';
import type { Role } from '../role.ts';
import { type Grant, grantedId, throwGrantLost } from './grant.ts';

export interface Actor {
  /** A user's id, or `operator` for the command line and `weir start`. */
  readonly id: string;
  /** The network address of the request; null for the operator. */
  readonly address: string | null;
  /** A signed-in user's authority. Absent for the operator, and for calls that authenticate. */
  readonly grant?: Grant;
}

export const operator: Actor = { id: 'operator', address: null };

/** An actor for a change that requires a different role than its call. */
export function withLeastRole(actor: Actor, least: Role): Actor {
  const { grant } = actor;
  if (grant?.role === undefined) return actor;
  return { ...actor, grant: { ...grant, role: { ...grant.role, least } } };
}

/** The content of an audit row. Never a key, a token or a password. */
interface EntryDetails {
  /** The id may be a column of the change. */
  actor: Actor | { readonly id: SQLWrapper; readonly address: string | null };
  /** Noun and verb: `api_key.create`. */
  action: string;
  /** The id of the changed object, unless it is the space itself. */
  target?: string | SQLWrapper;
  details?: Record<string, unknown>;
}

/**
 * `spaceId`: the change's column with the space; NULL is the operator's log (`weir audit`). `userId`: the
 * column with a user, for a row in each of their spaces, or in the operator's log without any.
 */
export type AuditEntry = EntryDetails & ({ spaceId: SQLWrapper } | { userId: SQLWrapper });

/**
 * Makes a change and writes an audit row for each changed row, in one statement. Nothing is changed when the
 * actor's grant is no longer valid.
 * @param changed the CTE that changes rows, with RETURNING. @param entry also with CTEs before and after it.
 * @returns the rows that were changed. @throws GrantLostError, ConfirmationNeededError
 */
export async function runAudited<Selection extends Record<string, unknown>>(
  database: Database | Transaction,
  changed: WithSubquery<string, Selection>,
  entry: AuditEntry & { before?: readonly WithSubquery[]; after?: readonly WithSubquery[] },
): Promise<SelectResultFields<Selection>[]> {
  const part: WithSubquery = changed;
  const { before = [], after = [] } = entry;
  const rows: unknown = await database
    .with(...before, part, auditPart(database, part, entry), ...after)
    .select()
    .from(part)
    .catch((error: unknown) => throwGrantLost(database, entry.actor, error));
  // Drizzle cannot compute the rows' type for a generic selection. For a concrete one it is this.
  return rows as SelectResultFields<Selection>[];
}

/**
 * Like {@link runAudited}, for an INSERT, UPDATE or DELETE that returns the `spaceId` or else the `userId` of
 * the log. The target is by default the returned `id`, or the user. `before`: CTEs that the change reads.
 */
export async function auditChange<
  Selection extends ColumnsSelection & ({ spaceId: unknown } | { userId: unknown }),
>(
  database: Database | Transaction,
  change: TypedQueryBuilder<Selection>,
  entry: EntryDetails & { before?: readonly WithSubquery[] },
): Promise<SelectResultFields<Selection>[]> {
  // Drizzle cannot compute the CTE's type for a generic selection. For a concrete one it has these columns.
  const changed = database.$with('changed').as(change) as unknown as WithSubquery<string, Selection> &
    Partial<Record<'id' | 'spaceId' | 'userId', SQLWrapper>>;
  const { id, spaceId, userId } = changed;
  const log = spaceId === undefined ? userId && { userId } : { spaceId };
  if (log === undefined) throw new Error('an audited change returns a space or a user');
  const target = id ?? userId;
  return runAudited(database, changed, { ...(target && { target }), ...entry, ...log });
}

/** Writes the audit rows of another CTE, `changed`. `name` must be unique in the statement. */
export function auditPart(
  database: Database | Transaction,
  changed: WithSubquery,
  entry: AuditEntry & { name?: string },
): WithSubquery {
  const { actor, action, target = sql`NULL`, details = {}, name = 'audited' } = entry;
  const [spaceId, from] =
    'spaceId' in entry
      ? [entry.spaceId, sql`${changed}`]
      : [
          memberships.spaceId,
          sql`${changed} LEFT JOIN ${memberships} ON ${eq(memberships.userId, entry.userId)}`,
        ];
  const columns = [auditLog.spaceId, auditLog.actor, auditLog.address, auditLog.action, auditLog.target];
  const rows = sql`
    INSERT INTO ${auditLog} (${namesOf([...columns, auditLog.details])})
    SELECT coalesce(${spaceId}, ${noSpace}::uuid), ${actorId(database, actor)}, ${actor.address}::text, ${action}::text,
      ${target}::text, ${JSON.stringify(details)}::jsonb
    FROM ${from}`;
  return database.$with(name, {}).as(rows);
}

/** Adds a row before a change of several statements. @throws GrantLostError, ConfirmationNeededError */
export async function auditNow(
  database: Database | Transaction,
  {
    spaceId,
    actor,
    action,
    details = {},
  }: { spaceId: string; actor: Actor; action: string; details?: Record<string, unknown> },
): Promise<void> {
  await database
    .insert(auditLog)
    .values({ spaceId, actor: actorId(database, actor), address: actor.address, action, details })
    .catch((error: unknown) => throwGrantLost(database, actor, error));
}

/** The user's id from a column of actors; NULL for the operator. */
export function userIdOf(actor: SQLWrapper): SQL<string | null> {
  return sql`CASE WHEN ${actor} <> ${operator.id} THEN ${actor}::uuid END`;
}

function actorId(database: Database | Transaction, actor: EntryDetails['actor']): SQL {
  return 'grant' in actor && actor.grant !== undefined
    ? grantedId(database, actor.id, actor.grant)
    : sql`${actor.id}::text`;
}
