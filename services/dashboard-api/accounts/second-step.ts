import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Logger } from '../../../platform/log.ts';
import {
  type SecondFactors,
  secondFactorColumns,
} from '../../../store/accounts/second-factor/second-factors.ts';
import type { Database } from '../../../store/db/database.ts';
import { users } from '../../../store/db/schema.ts';
import type { Seal } from '../seal.ts';
import type { CodeKind, UseCode } from '../second-factor/codes.ts';
import { codeAccountAttemptsMax, codeAttemptsMax, secondStepTtlMs } from '../second-factor/limits.ts';
import { openSealedState } from '../second-factor/sealed-state.ts';
import type { Authenticated, SessionClient, Sessions } from './session.ts';
import { SignInLimits } from './sign-in-limits.ts';

/** A session, or a step that waits for the second factor. */
export type FirstStep = { token: string } | { step: string; factors: SecondFactors };

export type CodeFailure = 'rejected' | 'too_many_attempts';

/**
 * Before a sign-in's second step there is no session, and nothing is stored: a browser has the sealed step.
 */
export interface SecondStep {
  /**
   * Opens the session of a user without a second factor, and otherwise begins the second step.
   * @returns undefined when the user is disabled or deleted, or the password was changed meanwhile.
   */
  start(
    user: Authenticated,
    client: SessionClient,
    method: 'password' | 'link',
  ): Promise<FirstStep | undefined>;
  /** `expired`: the step is too old, or the password was changed since. */
  finish(
    step: string | undefined,
    code: string,
    client: SessionClient,
  ): Promise<{ token: string } | CodeFailure | 'expired'>;
  /** Checks a code within the limits on attempts, which all methods share. */
  check(userId: string, code: string, client: SessionClient): Promise<{ kind: CodeKind } | CodeFailure>;
  /** None where passwords are off: then the OpenID provider is responsible for them. */
  findFactors(userId: string): Promise<SecondFactors>;
}

const stepShape = z.object({
  userId: z.string(),
  method: z.enum(['password', 'link']),
  /** Of the password's hash. A step does not outlive the password that it began with. */
  digest: z.string(),
});

/** Opens the second step of one process. Attempts are counted in memory, so a restart resets them. */
export function openSecondStep({
  database,
  sessions,
  seal,
  useCode,
  arePasswordsAllowed,
  log,
  now,
}: {
  database: Database;
  sessions: Sessions;
  seal: Seal;
  useCode: UseCode;
  /** Without passwords nobody is asked for a second factor. */
  arePasswordsAllowed: boolean;
  log: Logger;
  now: () => number;
}): SecondStep {
  const steps = openSealedState(seal, { shape: stepShape, ttlMs: secondStepTtlMs, now: () => Date.now() });
  const check = openCodeCheck(useCode, now);
  const findUser = async (userId: string) => {
    const [user] = await database
      .select({ passwordHash: users.passwordHash, ...secondFactorColumns })
      .from(users)
      .where(eq(users.id, userId));
    return user;
  };
  const findFactors = async (userId: string): Promise<SecondFactors> => {
    const user = await findUser(userId);
    if (user === undefined || !arePasswordsAllowed) return { totp: false, passkey: false };
    return { totp: user.totp, passkey: user.passkey };
  };
  return {
    check,
    findFactors,
    async start(user, client, method) {
      let factors = await findFactors(user.id);
      if (!hasAny(factors)) {
        const token = await sessions.open(user, client, method);
        if (token === undefined) return undefined;
        // A factor that is added meanwhile is seen here, or adding it ends this session.
        factors = await findFactors(user.id);
        if (!hasAny(factors)) return { token };
        await sessions.close(token, client.address);
      }
      const passwordHash = user.passwordHash ?? (await findUser(user.id))?.passwordHash;
      const step = { userId: user.id, method, digest: digestOf(passwordHash) };
      return { step: steps.seal(step, ''), factors };
    },
    async finish(sealed, code, client) {
      const step = sealed === undefined ? undefined : steps.open(sealed, '');
      const user = step && (await findUser(step.userId));
      const { passwordHash } = user ?? {};
      if (step === undefined || user === undefined || digestOf(passwordHash) !== step.digest)
        return 'expired';
      const { userId: id, method } = step;
      const open = async (): Promise<{ token: string } | CodeFailure> => {
        const checked = await check(id, code, client);
        if (typeof checked === 'string') return checked;
        const known = passwordHash == null ? {} : { passwordHash };
        const token = await sessions.open({ id, ...known, secondFactor: checked.kind }, client, method);
        return token === undefined ? 'rejected' : { token };
      };
      const opened = await open();
      const outcome = typeof opened === 'string' ? opened : 'signed_in';
      log.info({ outcome, userId: id, address: client.address }, 'second step');
      return opened;
    },
  };
}

function openCodeCheck(useCode: UseCode, now: () => number): SecondStep['check'] {
  const limits = new SignInLimits(now, { pairMax: codeAttemptsMax, accountMax: codeAccountAttemptsMax });
  return async (userId, code, { address }) => {
    const attempt = { email: userId, address };
    // From no network is a further attempt allowed: whoever makes it knows the password.
    if (!(await limits.take(attempt, async () => false))) return 'too_many_attempts';
    const kind = await useCode(userId, code);
    if (kind === undefined) return 'rejected';
    limits.clear(attempt);
    return { kind };
  };
}

function hasAny({ totp, passkey }: SecondFactors): boolean {
  return totp || passkey;
}

function digestOf(passwordHash: string | null | undefined): string {
  return createHash('sha256')
    .update(passwordHash ?? '')
    .digest('base64url');
}
