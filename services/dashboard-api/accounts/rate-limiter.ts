export interface RateLimiterOptions {
  /** Allowed attempts per key and window. */
  attemptsMax: number;
  windowMs: number;
  /** Limit of the keys counted at a time. Clients choose the keys, so memory must be bounded. */
  keysMax: number;
  /** The clock, in milliseconds. */
  now: () => number;
}

/** Counts attempts by key in fixed windows, each begun by a key's first attempt, in bounded memory. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  /** By key, in the order in which the windows began, which a Map preserves: the first entry ends first. */
  readonly #windows = new Map<string, { attempts: number; endsAt: number }>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Counts an attempt before its outcome is known. @returns whether the attempt is within the limit. */
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

  /** Drops the oldest key with the fewest attempts: keys used once cannot displace one under attack. */
  #dropLeast(): void {
    let least: { key: string; attempts: number } | undefined;
    for (const [key, { attempts }] of this.#windows) {
      if (least === undefined || attempts < least.attempts) least = { key, attempts };
      if (attempts <= 1) break;
    }
    if (least !== undefined) this.#windows.delete(least.key);
  }
}
