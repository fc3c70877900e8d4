import { and, eq, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm';
import { type Actor, runAudited } from '../../../store/accounts/audit/audit.ts';
import {
  createRecoveryCodes,
  hashRecoveryCode,
} from '../../../store/accounts/second-factor/recovery-code.ts';
import { secondFactorColumns } from '../../../store/accounts/second-factor/second-factors.ts';
import type { Database } from '../../../store/db/database.ts';
import { recoveryCodes, sessions, signInLinks, users } from '../../../store/db/schema.ts';
import { namesOf } from '../../../store/db/statement.ts';

/** A user who changes the own second factors, in a session. */
export interface Enrollee {
  actor: Actor;
  sessionId: string;
}

/**
 * A CTE with one row for a user with a password; others use single sign-on, with the provider's second
 * factor. The lock makes other changes of the user wait (`link` in sso/identity-users.ts removes the
 * password).
 */
export function lockEnrollee(database: Database, userId: string, isAllowed?: SQL) {
  return database.$with('enrollee').as(
    database
      .select({ userId: users.id })
      .from(users)
      .where(and(eq(users.id, userId), isNotNull(users.passwordHash), isNull(users.disabledAt), isAllowed))
      .for('no key update'),
  );
}

/** Ends other sessions and sign-in links: they may be of somebody who lacks the second factor. */
export async function endOtherSessions(database: Database, { actor, sessionId }: Enrollee): Promise<void> {
  await database.delete(sessions).where(and(eq(sessions.userId, actor.id), ne(sessions.id, sessionId)));
  await database.delete(signInLinks).where(eq(signInLinks.userId, actor.id));
}

/** The condition that the user of a row of `users` has a second factor. */
const hasFactor = sql`(${secondFactorColumns.totp} OR ${secondFactorColumns.passkey})`;

/** Removes the recovery codes when no second factor is left. */
export async function removeUselessCodes(database: Database, userId: string): Promise<void> {
  const useless = database
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), sql`NOT ${hasFactor}`));
  await database.delete(recoveryCodes).where(sql`${recoveryCodes.userId} IN ${useless}`);
}

/** @returns the new codes, which cannot be read again; undefined when the user has no second factor. */
export async function renewRecoveryCodes(database: Database, actor: Actor): Promise<string[] | undefined> {
  const codes = createRecoveryCodes();
  const hashes = sql.join(
    codes.map((code) => sql`(${hashRecoveryCode(code)}::bytea)`),
    sql`, `,
  );
  const enrollee = lockEnrollee(database, actor.id, hasFactor);
  const part = (name: string, statement: SQL) => database.$with(name, {}).as(statement);
  const removed = part(
    'removed',
    sql`DELETE FROM ${recoveryCodes} USING ${enrollee} WHERE ${eq(recoveryCodes.userId, enrollee.userId)}`,
  );
  const created = part(
    'created',
    sql`INSERT INTO ${recoveryCodes} (${namesOf([recoveryCodes.userId, recoveryCodes.codeHash])})
      SELECT ${enrollee.userId}, hash FROM ${enrollee}, (VALUES ${hashes}) AS fresh (hash)`,
  );
  const entry = { userId: enrollee.userId, actor, action: 'recovery_codes.create', target: actor.id };
  const rows = await runAudited(database, enrollee, { ...entry, after: [removed, created] });
  return rows.length > 0 ? codes : undefined;
}
