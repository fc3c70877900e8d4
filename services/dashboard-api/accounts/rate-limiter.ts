export interface RateLimiterOptions {
  /** Allowed attempts per key and window. */
  attemptsMax: number;
  windowMs: number;
  /** Limit of the keys counted at a time. Clients choose the keys, so memory must be bounded. */
  keysMax: number;
  /** The clock, in milliseconds. */
  now: () => number;
}

/** Counts attempts by key in fixed windows, in bounded memory. A window begins with the first attempt of a key. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  /** By key, in the order in which the windows began, which a Map preserves: the first entry ends first. */
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

  /** Undoes the counting of an attempt that should not count. */
  giveBack(key: string): void {
    const window = this.#windows.get(key);
    if (window !== undefined && window.attempts > 0) window.attempts -= 1;
  }

  /** Resets a key's count after a successful attempt. */
  clear(key: string): void {
    this.#windows.delete(key);
  }

  #dropEnded(now: number): void {
    for (const [key, window] of this.#windows) {
      if (window.endsAt > now) return;
      this.#windows.delete(key);
    }
  }

  /** Drops the window with the fewest attempts, oldest first, so that keys used once cannot displace a key under attack. */
  #dropLeast(): void {
    let least: { key: string; attempts: number } | undefined;
    for (const [key, { attempts }] of this.#windows) {
      if (least === undefined || attempts < least.attempts) least = { key, attempts };
      if (attempts <= 1) break;
    }
    if (least !== undefined) this.#windows.delete(least.key);
  }
}
