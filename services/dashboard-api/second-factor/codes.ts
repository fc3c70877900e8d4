import type { TRPCError } from '@trpc/server';
import { and, eq, lt } from 'drizzle-orm';
import { hashRecoveryCode } from '../../../store/accounts/second-factor/recovery-code.ts';
import { findTotpStep } from '../../../store/accounts/second-factor/totp.ts';
import type { Database } from '../../../store/db/database.ts';
import { recoveryCodes, totpSecrets } from '../../../store/db/schema.ts';
import { refusal } from '../refusal.ts';
import type { Seal } from '../seal.ts';

/** The kind of a code that was accepted, for the audit log. */
export type CodeKind = 'totp' | 'recovery_code';

/**
 * Accepts a code of an authenticator app, or a recovery code, once. @returns undefined when it is wrong or
 * used.
 * @throws TRPCError PRECONDITION_FAILED when the app's secret cannot be opened.
 */
export type UseCode = (userId: string, code: string) => Promise<CodeKind | undefined>;

/** @param seal of the apps' secrets. */
export function openCodes(database: Database, seal: Seal): UseCode {
  return async (userId, code) => {
    const text = code.replace(/\s/g, '');
    const isTotp = /^\d{6}$/.test(text);
    if (isTotp) return (await useTotp({ database, seal }, userId, text)) ? 'totp' : undefined;
    return (await useRecoveryCode(database, userId, text)) ? 'recovery_code' : undefined;
  };
}

async function useTotp(
  { database, seal }: { database: Database; seal: Seal },
  userId: string,
  code: string,
): Promise<boolean> {
  const ofUser = eq(totpSecrets.userId, userId);
  const [row] = await database.select({ sealed: totpSecrets.secret }).from(totpSecrets).where(ofUser);
  if (row === undefined) return false;
  const secret = seal.open(row.sealed, userId);
  if (secret === undefined) throw unreadable();
  const step = findTotpStep(secret, code, Date.now());
  if (step === undefined) return false;
  // Of concurrent calls with one code only one changes the row.
  const used = await database
    .update(totpSecrets)
    .set({ lastStep: step })
    .where(and(ofUser, eq(totpSecrets.secret, row.sealed), lt(totpSecrets.lastStep, step)))
    .returning({ userId: totpSecrets.userId });
  return used.length > 0;
}

async function useRecoveryCode(database: Database, userId: string, code: string): Promise<boolean> {
  const used = await database
    .delete(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, hashRecoveryCode(code))))
    .returning({ userId: recoveryCodes.userId });
  return used.length > 0;
}

function unreadable(): TRPCError {
  return refusal(
    'PRECONDITION_FAILED',
    'Codes of your app cannot be checked, because API_KEY_PEPPER was changed. Use a passkey or a recovery code, or ask the operator to reset your second factor.',
  );
}
