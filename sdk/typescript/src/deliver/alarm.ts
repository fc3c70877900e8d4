import type { Runtime } from '../runtime/runtime.ts';

/** A busy event loop delays a timer by less. */
const overdueMs = 5_000;

/** One timer that rings at the earliest time asked for. It keeps no process alive. */
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
    // Edge runtimes cancel the timers of a request that has ended: one that is long overdue will not ring.
    const isLost = nowMs > this.#dueMs + overdueMs;
    // A millisecond of tolerance: records in a row must not replace the timer each time.
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
