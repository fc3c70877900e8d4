import { backoffFirstMs, backoffMaxMs } from '../limits.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** Decides when the next request may be sent: at once, or after a wait that grows with each consecutive failure. */
export class Backoff {
  readonly #runtime: Runtime;
  #failures = 0;
  #jitterUntilMs = Number.NEGATIVE_INFINITY;
  #heldUntilMs = Number.NEGATIVE_INFINITY;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** 0 when a request may be sent now. */
  get waitMs(): number {
    return Math.max(0, Math.max(this.#jitterUntilMs, this.#heldUntilMs) - this.#runtime.nowMs());
  }

  /** @param afterMs the Retry-After of the response. */
  fail(afterMs: number): void {
    const ceilingMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** this.#failures++);
    const jitterMs = this.#runtime.random() * ceilingMs;
    // Add jitter after Retry-After, too: otherwise clients that were rejected together would retry together.
    this.#jitterUntilMs = this.#runtime.nowMs() + afterMs + jitterMs;
    if (afterMs > 0) this.holdMs(afterMs);
  }

  /** No request before this time, not even for `flush()`. */
  holdMs(ms: number): void {
    this.#heldUntilMs = this.#runtime.nowMs() + ms;
  }

  skipJitter(): void {
    this.#jitterUntilMs = Number.NEGATIVE_INFINITY;
  }

  reset(): void {
    this.#failures = 0;
    this.#jitterUntilMs = this.#heldUntilMs = Number.NEGATIVE_INFINITY;
  }
}
