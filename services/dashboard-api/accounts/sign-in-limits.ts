import { networkOf, widerNetworkOf } from './client-address.ts';
import {
  signInAccountAttemptsMax,
  signInAttemptsMax,
  signInKeysMax,
  signInNetworkAttemptsMax,
  signInWindowMs,
} from './limits.ts';
import { RateLimiter } from './rate-limiter.ts';

/** An attempt is counted by the normalized e-mail address and the client's network address. */
export interface Attempt {
  email: string;
  address: string;
}

const passwordMaxes = { pairMax: signInAttemptsMax, accountMax: signInAccountAttemptsMax };

/**
 * Limits password attempts per account and network, per account, and per wider network: many networks cannot
 * guess one account's password, and one network cannot try many accounts.
 */
export class SignInLimits {
  readonly #pairs: RateLimiter;
  readonly #accounts: RateLimiter;
  readonly #networks: RateLimiter;

  /** @param maxes the attempts per window: of an account from one network, and of an account from all. */
  constructor(now: () => number, { pairMax, accountMax } = passwordMaxes) {
    const open = (attemptsMax: number) =>
      new RateLimiter({ attemptsMax, windowMs: signInWindowMs, keysMax: signInKeysMax, now });
    this.#pairs = open(pairMax);
    this.#accounts = open(accountMax);
    this.#networks = open(signInNetworkAttemptsMax);
  }

  /**
   * A refused attempt opens no further windows, so a network above its limit cannot fill the memory.
   * @param isKnown whether the account has a session from this network: then attempts from other networks do
   * not count, so that nobody can lock the user out.
   */
  async take(attempt: Attempt, isKnown: () => Promise<boolean>): Promise<boolean> {
    if (!this.#networks.take(widerNetworkOf(attempt.address))) return false;
    if (!this.#pairs.take(pairOf(attempt))) return false;
    return this.#accounts.take(attempt.email) || (await isKnown());
  }

  clear(attempt: Attempt): void {
    this.#networks.giveBack(widerNetworkOf(attempt.address));
    this.#pairs.clear(pairOf(attempt));
    this.#accounts.giveBack(attempt.email);
  }
}

function pairOf({ email, address }: Attempt): string {
  return `${email} ${networkOf(address)}`;
}
