/**
 * Bounds the share of the machine that live streams take. Each piece of work declares its cost, as the time in which no other
 * one should begin; a little may be spent at once.
 */
export class Pacer {
  readonly #now: () => number;
  #freeAtMs = 0;

  /** @param now the clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  spend(costMs: number): void {
    this.#freeAtMs = Math.max(this.#freeAtMs, this.#now() - burstMs) + costMs;
  }

  /** How long to wait before the next piece of work. */
  get waitMs(): number {
    return Math.max(0, this.#freeAtMs - this.#now());
  }
}

/** What may be spent at once after a quiet time. */
const burstMs = 100;
