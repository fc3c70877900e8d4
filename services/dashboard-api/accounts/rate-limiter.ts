export interface RateLimiterOptions {
  /** Attempts of one key in one window. */
  attemptsMax: number;
  windowMs: number;
  /** Keys counted at a time. Clients choose the keys, so memory must not grow with them. */
  keysMax: number;
  /** The clock, in milliseconds. */
  now: () => number;
}

/** Counts attempts by key in fixed windows, in bounded memory. A window begins with a key's first attempt. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  /** By key, in the order in which the windows began: a Map keeps it, so the first entry ends first. */
  readonly #windows = new Map<string, { attempts: number; endsAt: number }>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /**
   * Counts one attempt, before its outcome is known, so that concurrent attempts count too.
   *
   * @returns whether the attempt is within the limit.
   */
  take(key: string): boolean {
    const now = this.#options.now();
    this.#dropEnded(now);
    const window = this.#windows.get(key);
    if (window !== undefined) {
      window.attempts += 1;
      return window.attempts <= this.#options.attemptsMax;
    }
    if (this.#windows.size >= this.#options.keysMax) this.#dropLeast();
    this.#windows.set(key, { attempts: 1, endsAt: now + this.#options.windowMs });
    return true;
  }

  /** Takes an attempt back that turned out to be none. */
  giveBack(key: string): void {
    const window = this.#windows.get(key);
    if (window !== undefined && window.attempts > 0) window.attempts -= 1;
  }

  /** Resets a key's count, after an attempt that succeeded. */
  clear(key: string): void {
    this.#windows.delete(key);
  }

  #dropEnded(now: number): void {
    for (const [key, window] of this.#windows) {
      if (window.endsAt > now) return;
      this.#windows.delete(key);
    }
  }

  /** Drops the window with the fewest attempts, the oldest of those: keys that are used once push out no key that is attacked. */
  #dropLeast(): void {
    let least: { key: string; attempts: number } | undefined;
    for (const [key, { attempts }] of this.#windows) {
      if (least === undefined || attempts < least.attempts) least = { key, attempts };
      if (attempts <= 1) break;
    }
    if (least !== undefined) this.#windows.delete(least.key);
  }
}
