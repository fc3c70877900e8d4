import { eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database, Transaction } from '../../db/database.ts';
import { passkeys, recoveryCodes, totpSecrets, users } from '../../db/schema.ts';
import { nameOf } from '../../db/statement.ts';

export interface SecondFactors {
  totp: boolean;
  passkey: boolean;
}

/** Columns that say which second factors the user of a row of `users` has. */
export const secondFactorColumns: Record<keyof SecondFactors, SQL<boolean>> = {
  totp: hasRow(totpSecrets, totpSecrets.userId),
  passkey: hasRow(passkeys, passkeys.userId),
};

/**
 * Columns are qualified by hand: in a query of one table Drizzle omits it, and `id` would be the inner one.
 */
function hasRow(table: PgTable, userId: PgColumn): SQL<boolean> {
  return sql<boolean>`EXISTS (
    SELECT FROM ${table} WHERE ${table}.${nameOf(userId)} = ${users}.${nameOf(users.id)})`;
}

/** Removes app, passkeys and recovery codes: the user then needs the password only. */
export async function removeSecondFactors(database: Database | Transaction, userId: string): Promise<void> {
  for (const table of [totpSecrets, passkeys, recoveryCodes])
    await database.delete(table).where(eq(table.userId, userId));
}
