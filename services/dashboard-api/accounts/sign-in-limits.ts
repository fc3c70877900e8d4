import {
  signInAccountAttemptsMax,
  signInAttemptsMax,
  signInKeysMax,
  signInNetworkAttemptsMax,
  signInWindowMs,
} from '../limits.ts';
import { networkOf, widerNetworkOf } from './client-address.ts';
import { RateLimiter } from './rate-limiter.ts';

/** Whose attempts with a password are counted: the e-mail address, normalized, and the network address of the client. */
export interface Attempt {
  email: string;
  address: string;
}

/**
 * Counts attempts with a password: of an account from a network, of an account from all networks, and of a wider network with all
 * accounts. Whoever has many networks cannot guess one account's password, and whoever has one cannot try many accounts.
 */
export class SignInLimits {
  readonly #pairs: RateLimiter;
  readonly #accounts: RateLimiter;
  readonly #networks: RateLimiter;

  constructor(now: () => number) {
    const open = (attemptsMax: number) =>
      new RateLimiter({ attemptsMax, windowMs: signInWindowMs, keysMax: signInKeysMax, now });
    this.#pairs = open(signInAttemptsMax);
    this.#accounts = open(signInAccountAttemptsMax);
    this.#networks = open(signInNetworkAttemptsMax);
  }

  /**
   * Counts an attempt. One that is refused makes no further windows, so that a network that is over its limit cannot fill the
   * memory for them.
   *
   * @param isKnown whether the account was signed in to from this network before: then attempts from other networks do not
   *   count, so that nobody can lock a user out.
   */
  async take(attempt: Attempt, isKnown: () => Promise<boolean>): Promise<boolean> {
    if (!this.#networks.take(widerNetworkOf(attempt.address))) return false;
    if (!this.#pairs.take(pairOf(attempt))) return false;
    return this.#accounts.take(attempt.email) || (await isKnown());
  }

  /** The attempt succeeded. It does not count, and the user may mistype again. */
  clear(attempt: Attempt): void {
    this.#networks.giveBack(widerNetworkOf(attempt.address));
    this.#pairs.clear(pairOf(attempt));
    this.#accounts.giveBack(attempt.email);
  }
}

function pairOf({ email, address }: Attempt): string {
  return `${email} ${networkOf(address)}`;
}
