import { randomBytes } from 'node:crypto';
import { and, eq, gt, sql } from 'drizzle-orm';
import { openFairLimiter, QueueFullError } from '../../../platform/fair-limiter.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Actor } from '../../../store/accounts/audit/audit.ts';
import { normalizeEmail } from '../../../store/accounts/email.ts';
import { hashPassword, verifyPassword } from '../../../store/accounts/password.ts';
import { hashToken, isToken } from '../../../store/accounts/secret-token.ts';
import type { Database } from '../../../store/db/database.ts';
import { sessions, signInLinks, users } from '../../../store/db/schema.ts';
import { networkOf, widerNetworkOf } from './client-address.ts';
import { signInHashLimits } from './limits.ts';
import type { FirstStep, SecondStep } from './second-step.ts';
import type { SessionClient, Sessions } from './session.ts';
import { SignInLimits } from './sign-in-limits.ts';

export interface SignInAttempt {
  email: string;
  password: string;
  client: SessionClient;
}

/** `rejected`: unknown e-mail address, wrong password, or a wrong code beside the right one. */
export type SignInFailure = 'rejected' | 'too_many_attempts' | 'busy';

export type SignIn = Awaited<ReturnType<typeof openSignIn>>;

/**
 * Verifies passwords. Both methods share the limits on attempts, which are counted in memory, so a restart
 * resets them. Each attempt is logged, without the e-mail address.
 */
export async function openSignIn(options: {
  database: Database;
  sessions: Sessions;
  secondStep: SecondStep;
  log: Logger;
  now: () => number;
}) {
  const { sessions, secondStep, log } = options;
  const attemptPassword = await openAttempts(options);
  return {
    /** Opens a session, or begins the second step of a user who has a second factor. */
    open: async (attempt: SignInAttempt): Promise<FirstStep | SignInFailure> => {
      const { userId, outcome } = await attemptPassword(attempt, (user) =>
        secondStep.start(user, attempt.client, 'password'),
      );
      const said =
        typeof outcome === 'string' ? outcome : 'token' in outcome.result ? 'signed_in' : 'second_step';
      log.info({ outcome: said, userId, address: attempt.client.address }, 'sign-in');
      return typeof outcome === 'string' ? outcome : outcome.result;
    },
    /**
     * Records in the actor's session that the user gave the password again, and a code with a second factor.
     */
    confirm: async ({
      actor,
      sessionId,
      code,
      ...attempt
    }: SignInAttempt & { actor: Actor; sessionId: string; code: string | undefined }): Promise<
      'confirmed' | SignInFailure
    > => {
      const { outcome } = await attemptPassword(attempt, async ({ id, passwordHash }) => {
        const { totp, passkey } = await secondStep.findFactors(id);
        if (totp || passkey) {
          const checked = await secondStep.check(id, code ?? '', attempt.client);
          if (checked === 'too_many_attempts') return checked;
          if (checked === 'rejected') return undefined;
        }
        return (await sessions.confirm(actor, sessionId, passwordHash)) ? ('confirmed' as const) : undefined;
      });
      const said = typeof outcome === 'string' ? outcome : outcome.result;
      log.info({ outcome: said, userId: actor.id, address: attempt.client.address }, 'confirm');
      return said;
    },
  };
}

/** Verifies a password. When `onRight` returns undefined for the right one, the attempt is rejected. */
async function openAttempts({ database, now }: { database: Database; now: () => number }) {
  const limits = new SignInLimits(now);
  const hashing = openFairLimiter(signInHashLimits);
  const findUser = prepareFindUser(database);
  // Verified for an unknown e-mail address, so that the response time does not reveal who has an account.
  const decoyHash = await hashPassword(randomBytes(32).toString('base64'));
  return async <Result>(
    { email, password, client }: SignInAttempt,
    onRight: (user: { id: string; passwordHash: string }) => Promise<Result | undefined>,
  ): Promise<{ userId: string | undefined; outcome: { result: Result } | SignInFailure }> => {
    const attempt = { email: normalizeEmail(email), address: client.address };
    const network = widerNetworkOf(client.address);
    const [user] = await findUser.execute({ email: attempt.email });
    const run = async () => {
      if (!(await limits.take(attempt, () => isKnownNetwork(database, user?.id, client.address))))
        return 'too_many_attempts';
      const verify = () => verifyPassword(password, user?.passwordHash ?? decoyHash);
      const isRight = await hashing({ spaceId: network, holderId: network }, verify);
      if (user?.passwordHash == null || !isRight) return 'rejected';
      const result = await onRight({ id: user.id, passwordHash: user.passwordHash });
      if (result === undefined) return 'rejected';
      limits.clear(attempt);
      return { result };
    };
    const outcome = await run().catch((error: unknown) => {
      if (error instanceof QueueFullError) return 'busy' as const;
      throw error;
    });
    return { userId: user?.id, outcome };
  };
}

function prepareFindUser(database: Database) {
  return database
    .select({ id: users.id, passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.email, sql.placeholder('email')))
    .prepare('sign_in');
}

/** Whether the user has a session that was opened from this network. */
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

export type RedeemLink = ReturnType<typeof openLinkRedemption>;

/** Signs in with a sign-in link's token and deletes the link. @returns undefined without a valid link. */
export function openLinkRedemption(database: Database, secondStep: SecondStep) {
  return async (token: string, client: SessionClient): Promise<FirstStep | undefined> => {
    if (!isToken(token)) return undefined;
    // Of concurrent calls only one deletes the row and gets it back.
    const [link] = await database
      .delete(signInLinks)
      .where(and(eq(signInLinks.tokenHash, hashToken(token)), gt(signInLinks.expiresAt, sql`now()`)))
      .returning({ userId: signInLinks.userId });
    return link && secondStep.start({ id: link.userId }, client, 'link');
  };
}
