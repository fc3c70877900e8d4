import { randomBytes } from 'node:crypto';
import { normalizeEmail } from '../../lib/access/email.ts';
import { hashPassword, verifyPassword } from '../../lib/access/password.ts';
import type { Sql } from '../../lib/db/connect.ts';
import { signInPairsMax, signInsAtOnceMax, signInTriesMax, signInWindowMs } from '../../lib/limits.ts';
import type { Sessions } from './session.ts';
import { TryLimit } from './try-limit.ts';

export interface SignInTry {
  email: string;
  password: string;
  /** The network address that the try comes from. */
  address: string;
}

/** How a try ended. `refused` is one answer for an unknown e-mail and a wrong password. */
export type SignInOutcome = { token: string } | 'refused' | 'too_many_tries' | 'busy';

/** Tries to sign in, and opens a session where e-mail and password are right. */
export type SignIn = (attempt: SignInTry) => Promise<SignInOutcome>;

/** Makes the sign-in of one process: its counters live in memory, and a restart forgets them. */
export async function openSignIn(options: {
  sql: Sql;
  sessions: Sessions;
  now: () => number;
}): Promise<SignIn> {
  const { sql, sessions, now } = options;
  const limit = new TryLimit({
    triesMax: signInTriesMax,
    windowMs: signInWindowMs,
    keysMax: signInPairsMax,
    now,
  });
  // An unknown e-mail is verified against this, so that it costs what a known one costs.
  const decoyHash = await hashPassword(randomBytes(32).toString('base64'));
  let running = 0;

  return async ({ email, password, address }) => {
    const normalized = normalizeEmail(email);
    const pair = `${normalized} ${address}`;
    if (running >= signInsAtOnceMax) return 'busy';
    if (!limit.take(pair)) return 'too_many_tries';
    running += 1;
    try {
      const [user] = await sql<{ id: string; passwordHash: string }[]>`
        SELECT id, password_hash AS "passwordHash" FROM users WHERE email = ${normalized}`;
      const isRight = await verifyPassword(password, user?.passwordHash ?? decoyHash);
      if (user === undefined || !isRight) return 'refused';
      const token = await sessions.open(user);
      if (token === undefined) return 'refused';
      limit.clear(pair);
      return { token };
    } finally {
      running -= 1;
    }
  };
}
