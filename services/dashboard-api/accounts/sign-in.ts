import { randomBytes } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { normalizeEmail } from '../../../lib/accounts/email.ts';
import { hashPassword, verifyPassword } from '../../../lib/accounts/password.ts';
import type { Database } from '../../../lib/db/database.ts';
import { sessions, users } from '../../../lib/db/schema.ts';
import { openFairLimiter, QueueFullError } from '../../../lib/fair-limiter.ts';
import type { Logger } from '../../../lib/log.ts';
import { signInHashLimits } from '../limits.ts';
import { networkOf, widerNetworkOf } from './client-address.ts';
import type { SessionClient, Sessions } from './session.ts';
import { SignInLimits } from './sign-in-limits.ts';

export interface SignInAttempt {
  email: string;
  password: string;
  client: SessionClient;
}

/** The outcome of an attempt. `rejected` is the one answer for an unknown e-mail address and for a wrong password. */
export type SignInOutcome = { token: string } | 'rejected' | 'too_many_attempts' | 'busy';

/** Verifies e-mail address and password, and opens a session when both are right. */
export type SignIn = (attempt: SignInAttempt) => Promise<SignInOutcome>;

/** Opens the sign-in of one process. Its attempt counters are in memory: a restart clears them. Each attempt has a log line, without the e-mail address. */
export async function openSignIn(options: {
  database: Database;
  sessions: Sessions;
  log: Logger;
  now: () => number;
}): Promise<SignIn> {
  const { database, log, now } = options;
  const limits = new SignInLimits(now);
  const hashing = openFairLimiter(signInHashLimits);
  const findUser = prepareFindUser(database);
  // An unknown e-mail address is verified against this hash, so that the time taken does not reveal who has an account.
  const decoyHash = await hashPassword(randomBytes(32).toString('base64'));

  return async ({ email, password, client }) => {
    const attempt = { email: normalizeEmail(email), address: client.address };
    const network = widerNetworkOf(client.address);
    const [user] = await findUser.execute({ email: attempt.email });
    const signIn = async (): Promise<SignInOutcome> => {
      if (!(await limits.take(attempt, () => isKnownNetwork(database, user?.id, client.address))))
        return 'too_many_attempts';
      const verify = () => verifyPassword(password, user?.passwordHash ?? decoyHash);
      const isRight = await hashing({ spaceId: network, userId: network }, verify);
      if (user?.passwordHash == null || !isRight) return 'rejected';
      const token = await options.sessions.open(
        { id: user.id, passwordHash: user.passwordHash },
        client,
        'password',
      );
      if (token === undefined) return 'rejected';
      limits.clear(attempt);
      return { token };
    };
    const outcome = await signIn().catch((error: unknown) => {
      if (error instanceof QueueFullError) return 'busy' as const;
      throw error;
    });
    const said = typeof outcome === 'string' ? outcome : 'signed_in';
    log.info({ outcome: said, userId: user?.id, address: client.address }, 'sign-in');
    return outcome;
  };
}

function prepareFindUser(database: Database) {
  return database
    .select({ id: users.id, passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.email, sql.placeholder('email')))
    .prepare('sign_in');
}

/** Whether a user has a session that was opened from the network of an address. */
async function isKnownNetwork(
  database: Database,
  userId: string | undefined,
  address: string,
): Promise<boolean> {
  if (userId === undefined) return false;
  const opened = await database
    .select({ address: sessions.address })
    .from(sessions)
    .where(eq(sessions.userId, userId));
  return opened.some((session) => networkOf(session.address ?? '') === networkOf(address));
}
