import { randomBytes } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { normalizeEmail } from '../../../lib/accounts/email.ts';
import { hashPassword, verifyPassword } from '../../../lib/accounts/password.ts';
import type { Database } from '../../../lib/db/database.ts';
import { users } from '../../../lib/db/schema.ts';
import { signInAttemptsMax, signInPairsMax, signInsAtOnceMax, signInWindowMs } from '../limits.ts';
import { networkOf } from './client-address.ts';
import { RateLimiter } from './rate-limiter.ts';
import type { SessionClient, Sessions } from './session.ts';

export interface SignInAttempt {
  email: string;
  password: string;
  client: SessionClient;
}

/** The outcome of an attempt. `rejected` is the one answer for an unknown e-mail address and for a wrong password. */
export type SignInOutcome = { token: string } | 'rejected' | 'too_many_attempts' | 'busy';

/** Verifies e-mail address and password, and opens a session when both are right. */
export type SignIn = (attempt: SignInAttempt) => Promise<SignInOutcome>;

/** Opens the sign-in of one process. Its attempt counters are in memory: a restart clears them. */
export async function openSignIn(options: {
  database: Database;
  sessions: Sessions;
  now: () => number;
}): Promise<SignIn> {
  const { database, sessions, now } = options;
  const limiter = new RateLimiter({
    attemptsMax: signInAttemptsMax,
    windowMs: signInWindowMs,
    keysMax: signInPairsMax,
    now,
  });
  const findUser = database
    .select({ id: users.id, passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.email, sql.placeholder('email')))
    .prepare('sign_in');
  // An unknown e-mail address is verified against this hash, so that the time taken does not reveal who has an account.
  const decoyHash = await hashPassword(randomBytes(32).toString('base64'));
  let running = 0;

  return async ({ email, password, client }) => {
    const normalized = normalizeEmail(email);
    const pair = `${normalized} ${networkOf(client.address)}`;
    if (running >= signInsAtOnceMax) return 'busy';
    if (!limiter.take(pair)) return 'too_many_attempts';
    running += 1;
    try {
      const [user] = await findUser.execute({ email: normalized });
      const isRight = await verifyPassword(password, user?.passwordHash ?? decoyHash);
      if (user?.passwordHash == null || !isRight) return 'rejected';
      const token = await sessions.open({ id: user.id, passwordHash: user.passwordHash }, client, 'password');
      if (token === undefined) return 'rejected';
      limiter.clear(pair);
      return { token };
    } finally {
      running -= 1;
    }
  };
}
