import { backoffFirstMs, backoffMaxMs } from '../limits.ts';
import type { Runtime } from '../runtime/runtime.ts';

/**
 * Decides when the next request may be sent: at once, or after a wait that grows with each consecutive
 * failure.
 */
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

/** Longer than a busy event loop delays a timer. */
const overdueMs = 5_000;

/** One timer that fires at the earliest requested time. It does not keep the process alive. */
export class Alarm {
  readonly #runtime: Runtime;
  readonly #ring: () => void;
  #dueMs = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(runtime: Runtime, ring: () => void) {
    this.#runtime = runtime;
    this.#ring = ring;
  }

  set(delayMs: number): void {
    const nowMs = this.#runtime.nowMs();
    const dueMs = nowMs + delayMs;
    // Edge runtimes cancel the timers of a request that has ended: a timer that is long overdue will never
    // fire.
    const isLost = nowMs > this.#dueMs + overdueMs;
    // One millisecond of tolerance, so that a series of records does not replace the timer each time.
    if (dueMs >= this.#dueMs - 1 && !isLost) return;
    this.cancel();
    this.#dueMs = dueMs;
    this.#cancel = this.#runtime.setTimer(() => {
      this.cancel();
      this.#ring();
    }, delayMs);
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#dueMs = Number.POSITIVE_INFINITY;
  }
}
