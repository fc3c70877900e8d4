import { and, eq, ne } from 'drizzle-orm';
import { type Actor, auditChange } from '../../../store/accounts/audit/audit.ts';
import { hashPassword, verifyPassword } from '../../../store/accounts/password.ts';
import type { Database } from '../../../store/db/database.ts';
import { sessions, signInLinks, users } from '../../../store/db/schema.ts';
import { passwordChangesAtOnceMax, signInAttemptsMax, signInKeysMax, signInWindowMs } from './limits.ts';
import { RateLimiter } from './rate-limiter.ts';

/** `no_password`: the user signs in with single sign-on only. */
export type PasswordChangeOutcome = 'changed' | 'wrong' | 'no_password' | 'too_many_attempts' | 'busy';

/** Verifies the current password, and ends the user's other sessions and sign-in links. */
export type ChangePassword = (
  user: { actor: Actor; sessionId: string },
  passwords: { current: string; next: string },
) => Promise<PasswordChangeOutcome>;

/** Opens the password change of one process. Attempts are counted in memory. */
export function openPasswordChange(database: Database, now: () => number): ChangePassword {
  const limiter = new RateLimiter({
    attemptsMax: signInAttemptsMax,
    windowMs: signInWindowMs,
    keysMax: signInKeysMax,
    now,
  });
  let running = 0;
  return async (user, passwords) => {
    if (running >= passwordChangesAtOnceMax) return 'busy';
    // Limits guesses at an unlocked browser.
    if (!limiter.take(user.actor.id)) return 'too_many_attempts';
    running += 1;
    try {
      const outcome = await changePassword(database, user, passwords);
      if (outcome === 'changed') limiter.clear(user.actor.id);
      return outcome;
    } finally {
      running -= 1;
    }
  };
}

async function changePassword(
  database: Database,
  { actor, sessionId }: { actor: Actor; sessionId: string },
  { current, next }: { current: string; next: string },
): Promise<PasswordChangeOutcome> {
  const userId = actor.id;
  const [user] = await database
    .select({ passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.id, userId));
  const verified = user?.passwordHash;
  if (verified === undefined || verified === null) return 'no_password';
  if (!(await verifyPassword(current, verified))) return 'wrong';
  const passwordHash = await hashPassword(next);
  if (!(await replaceHash(database, { verified, passwordHash }, actor))) return 'wrong';
  // After the change: no session can open with the old password, and this sees all that were opened.
  await database.delete(sessions).where(and(eq(sessions.userId, userId), ne(sessions.id, sessionId)));
  await database.delete(signInLinks).where(eq(signInLinks.userId, userId));
  return 'changed';
}

/** @returns whether the hash was unchanged since the current password was verified against it. */
async function replaceHash(
  database: Database,
  { verified, passwordHash }: { verified: string; passwordHash: string },
  actor: Actor,
): Promise<boolean> {
  const change = database
    .update(users)
    .set({ passwordHash })
    .where(and(eq(users.id, actor.id), eq(users.passwordHash, verified)))
    .returning({ userId: users.id });
  return (await auditChange(database, change, { actor, action: 'user.password' })).length > 0;
}
