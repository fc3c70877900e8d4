import { eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database, Transaction } from '../../db/database.ts';
import { passkeys, recoveryCodes, totpSecrets, users } from '../../db/schema.ts';
import { nameOf } from '../../db/statement.ts';

export interface SecondFactors {
  /** A one-time code of an authenticator app. */
  totp: boolean;
  passkey: boolean;
}

/** Columns that say which second factors the user of a row of `users` has. */
export const secondFactorColumns: Record<keyof SecondFactors, SQL<boolean>> = {
  totp: hasRow(totpSecrets, totpSecrets.userId),
  passkey: hasRow(passkeys, passkeys.userId),
};

/**
 * Columns are qualified by hand: in a query of one table Drizzle omits the table, and `id` would be that of
 * the inner one.
 */
function hasRow(table: PgTable, userId: PgColumn): SQL<boolean> {
  return sql<boolean>`EXISTS (
    SELECT FROM ${table} WHERE ${table}.${nameOf(userId)} = ${users}.${nameOf(users.id)})`;
}

/**
 * Removes the authenticator app, the passkeys and the recovery codes of a user, who then needs the password
 * only.
 */
export async function removeSecondFactors(database: Database | Transaction, userId: string): Promise<void> {
  for (const table of [totpSecrets, passkeys, recoveryCodes])
    await database.delete(table).where(eq(table.userId, userId));
}
