import type { Runtime } from '../runtime/runtime.ts';

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
    // Edge runtimes cancel the timers of a request that has ended: a timer that is long overdue will never fire.
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
