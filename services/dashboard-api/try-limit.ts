export interface TryLimitOptions {
  /** Tries of one key in one window. */
  triesMax: number;
  windowMs: number;
  /** Keys remembered: anybody can invent keys, and memory must not grow with them. */
  keysMax: number;
  /** The clock, in milliseconds. */
  now: () => number;
}

/** Counts tries by key in fixed windows, in bounded memory. A window begins with a key's first try. */
export class TryLimit {
  readonly #options: TryLimitOptions;
  /** In the order in which the windows began, as a Map keeps it: the first is the first to end. */
  readonly #windows = new Map<string, { tries: number; endsAt: number }>();

  constructor(options: TryLimitOptions) {
    this.#options = options;
  }

  /** Counts one try, before its outcome is known: so tries made at once cannot slip past the limit. */
  take(key: string): boolean {
    const now = this.#options.now();
    this.#dropEnded(now);
    const window = this.#windows.get(key);
    if (window !== undefined) {
      window.tries += 1;
      return window.tries <= this.#options.triesMax;
    }
    if (this.#windows.size >= this.#options.keysMax) this.#dropFirst();
    this.#windows.set(key, { tries: 1, endsAt: now + this.#options.windowMs });
    return true;
  }

  /** Forgets a key's tries: the last one succeeded. */
  clear(key: string): void {
    this.#windows.delete(key);
  }

  #dropEnded(now: number): void {
    for (const [key, window] of this.#windows) {
      if (window.endsAt > now) return;
      this.#windows.delete(key);
    }
  }

  #dropFirst(): void {
    for (const key of this.#windows.keys()) {
      this.#windows.delete(key);
      return;
    }
  }
}
