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
import { openSealedState, type SealedState } from '../second-factor/sealed-state.ts';
import type { Authenticated, SessionClient, Sessions } from './session.ts';
import { SignInLimits } from './sign-in-limits.ts';

/** A session, or a step that waits for the second factor. */
export type FirstStep = { token: string } | { step: string; factors: SecondFactors };

export type CodeFailure = 'rejected' | 'too_many_attempts';

const stepShape = z.object({
  userId: z.string(),
  method: z.enum(['password', 'link']),
  /** Digest of the password's hash: a step ends with the password that it began with. */
  digest: z.string(),
});

export interface SecondStepOptions {
  database: Database;
  sessions: Sessions;
  seal: Seal;
  useCode: UseCode;
  /** Without passwords nobody is asked for a second factor. */
  arePasswordsAllowed: boolean;
  log: Logger;
  now: () => number;
}

/**
 * The second step of sign-ins in one process. Before it there is no session, and nothing is stored: a browser
 * has the sealed step. Attempts are counted in memory, so a restart resets them.
 */
export class SecondStep {
  readonly #options: SecondStepOptions;
  readonly #steps: SealedState<z.infer<typeof stepShape>>;
  readonly #limits: SignInLimits;

  constructor(options: SecondStepOptions) {
    this.#options = options;
    this.#steps = openSealedState(options.seal, { shape: stepShape, ttlMs: secondStepTtlMs });
    this.#limits = new SignInLimits(options.now, {
      pairMax: codeAttemptsMax,
      accountMax: codeAccountAttemptsMax,
    });
  }

  /**
   * Opens the session of a user without a second factor, and otherwise begins the second step.
   * @returns undefined when the user is disabled or deleted, or the password was changed meanwhile.
   */
  async start(
    user: Authenticated,
    client: SessionClient,
    method: 'password' | 'link',
  ): Promise<FirstStep | undefined> {
    const { sessions } = this.#options;
    let factors = await this.findFactors(user.id);
    if (!hasAny(factors)) {
      const token = await sessions.open(user, client, method);
      if (token === undefined) return undefined;
      // A factor that is added meanwhile is seen here, or adding it ends this session.
      factors = await this.findFactors(user.id);
      if (!hasAny(factors)) return { token };
      await sessions.close(token, client.address);
    }
    const passwordHash = user.passwordHash ?? (await this.#findUser(user.id))?.passwordHash;
    const step = { userId: user.id, method, digest: digestOf(passwordHash) };
    return { step: this.#steps.seal(step, ''), factors };
  }

  /** `expired`: the step is too old, or the password was changed since. */
  async finish(
    sealed: string | undefined,
    code: string,
    client: SessionClient,
  ): Promise<{ token: string } | CodeFailure | 'expired'> {
    const step = sealed === undefined ? undefined : this.#steps.open(sealed, '');
    const user = step && (await this.#findUser(step.userId));
    const { passwordHash } = user ?? {};
    if (step === undefined || user === undefined || digestOf(passwordHash) !== step.digest) return 'expired';
    const { userId: id, method } = step;
    const { sessions, log } = this.#options;
    const open = async (): Promise<{ token: string } | CodeFailure> => {
      const checked = await this.check(id, code, client);
      if (typeof checked === 'string') return checked;
      const known = passwordHash == null ? {} : { passwordHash };
      const token = await sessions.open({ id, ...known, secondFactor: checked.kind }, client, method);
      return token === undefined ? 'rejected' : { token };
    };
    const opened = await open();
    const outcome = typeof opened === 'string' ? opened : 'signed_in';
    log.info({ outcome, userId: id, address: client.address }, 'second step');
    return opened;
  }

  /** Checks a code within the limits on attempts, which all methods share. */
  async check(
    userId: string,
    code: string,
    { address }: SessionClient,
  ): Promise<{ kind: CodeKind } | CodeFailure> {
    const attempt = { email: userId, address };
    // From no network is a further attempt allowed: whoever makes it knows the password.
    if (!(await this.#limits.take(attempt, async () => false))) return 'too_many_attempts';
    const kind = await this.#options.useCode(userId, code);
    if (kind === undefined) return 'rejected';
    this.#limits.clear(attempt);
    return { kind };
  }

  /** None where passwords are off: then the OpenID provider is responsible for them. */
  async findFactors(userId: string): Promise<SecondFactors> {
    const user = await this.#findUser(userId);
    if (user === undefined || !this.#options.arePasswordsAllowed) return { totp: false, passkey: false };
    return { totp: user.totp, passkey: user.passkey };
  }

  async #findUser(userId: string) {
    const [user] = await this.#options.database
      .select({ passwordHash: users.passwordHash, ...secondFactorColumns })
      .from(users)
      .where(eq(users.id, userId));
    return user;
  }
}

function hasAny({ totp, passkey }: SecondFactors): boolean {
  return totp || passkey;
}

function digestOf(passwordHash: string | null | undefined): string {
  return createHash('sha256')
    .update(passwordHash ?? '')
    .digest('base64url');
}
