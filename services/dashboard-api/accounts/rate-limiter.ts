export interface RateLimiterOptions {
  /** Per key and window. */
  attemptsMax: number;
  windowMs: number;
  /** Clients choose the keys, so memory must be bounded. */
  keysMax: number;
  /** In milliseconds. */
  now: () => number;
}

/** Counts attempts by key in fixed windows, each begun by a key's first attempt, in bounded memory. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  /** In the order in which the windows began, which a Map preserves: the first entry ends first. */
  readonly #windows = new Map<string, { attempts: number; endsAt: number }>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /**
   * Counts an attempt before its outcome, so that concurrent ones count. @returns whether it is within the
   * limit.
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

  giveBack(key: string): void {
    const window = this.#windows.get(key);
    if (window !== undefined && window.attempts > 0) window.attempts -= 1;
  }

  clear(key: string): void {
    this.#windows.delete(key);
  }

  #dropEnded(now: number): void {
    for (const [key, window] of this.#windows) {
      if (window.endsAt > now) return;
      this.#windows.delete(key);
    }
  }

  /** Oldest first of those with the fewest attempts: keys used once cannot displace one under attack. */
  #dropLeast(): void {
    let least: { key: string; attempts: number } | undefined;
    for (const [key, { attempts }] of this.#windows) {
      if (least === undefined || attempts < least.attempts) least = { key, attempts };
      if (attempts <= 1) break;
    }
    if (least !== undefined) this.#windows.delete(least.key);
  }
}
