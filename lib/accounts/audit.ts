import { eq, type SQL, type SQLWrapper, sql, type WithSubquery } from 'drizzle-orm';
import type { Database, Transaction } from '../db/database.ts';
import { noSpace } from '../db/limits.ts';
import { auditLog, memberships } from '../db/schema.ts';
import { namesOf } from '../db/statement.ts';

export type { Transaction };

/** Who makes a change, and from where. */
export interface Actor {
  /** A user's id, or `operator` for the command line and `npm start`. */
  readonly id: string;
  /** The network address that the change was asked from; null for the operator's. */
  readonly address: string | null;
}

export const operator: Actor = { id: 'operator', address: null };

/** What is written of a change, beside who made it and when. Never a key, a token or a password. */
interface AuditEntry {
  /** Its id may be a column of the change. */
  actor: { readonly id: string | SQLWrapper; readonly address: string | null };
  /** Noun and verb: `api_key.create`. */
  action: string;
  /** The id of what was changed, where it is not the space itself. */
  target?: string | SQLWrapper;
  details?: Record<string, unknown>;
}

/**
 * The part of a statement that adds one audit row for each row that another part of it, `changed`, has changed. The change
 * and its audit rows are one statement, so neither is ever there without the other.
 *
 * @param entry `spaceId` is the column of `changed` with the space. NULL is no space: the row is the operator's (`weir audit`).
 * @param name of the part, where a statement has several.
 */
export function auditChanged(
  database: Database | Transaction,
  changed: WithSubquery,
  entry: AuditEntry & { spaceId: SQLWrapper },
  name?: string,
): WithSubquery {
  return insertRows(database, sql`${changed}`, entry, name);
}

/** As {@link auditChanged}, for a change of users: one row in each space of each user; one for a user of none, which is the operator's. */
export function auditUsers(
  database: Database | Transaction,
  changed: WithSubquery & { readonly userId: SQLWrapper },
  entry: AuditEntry,
): WithSubquery {
  const from = sql`${changed} LEFT JOIN ${memberships} ON ${eq(memberships.userId, changed.userId)}`;
  return insertRows(database, from, { ...entry, spaceId: memberships.spaceId });
}

/** Adds one audit row, before a change that is more than one statement. */
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
    .values({ spaceId, actor: actor.id, address: actor.address, action, details });
}

/** The user's id in a column that holds actors; NULL for the operator. */
export function userIdOf(actor: SQLWrapper): SQL<string | null> {
  return sql`CASE WHEN ${actor} <> ${operator.id} THEN ${actor}::uuid END`;
}

function insertRows(
  database: Database | Transaction,
  from: SQL,
  { spaceId, actor, action, target = sql`NULL`, details = {} }: AuditEntry & { spaceId: SQLWrapper },
  name = 'audited',
): WithSubquery {
  const columns = [auditLog.spaceId, auditLog.actor, auditLog.address, auditLog.action, auditLog.target];
  const rows = sql`
    INSERT INTO ${auditLog} (${namesOf([...columns, auditLog.details])})
    SELECT coalesce(${spaceId}, ${noSpace}::uuid), ${actor.id}::text, ${actor.address}::text, ${action}::text, ${target}::text,
      ${JSON.stringify(details)}::jsonb
    FROM ${from}`;
  return database.$with(name, {}).as(rows);
}
