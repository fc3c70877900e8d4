import type { Runtime } from '../../src/runtime/runtime.ts';

interface VirtualTimer {
  atMs: number;
  callback: () => void;
}

/** A clock and timers that only tests advance, so that hours pass in milliseconds. */
export class VirtualRuntime implements Runtime {
  /** The result of `random()`. */
  chance = 0.5;
  #nowMs = 0;
  readonly #startMs = Date.now();
  readonly #timers = new Set<VirtualTimer>();

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#startMs + this.#nowMs;
  }

  random(): number {
    return this.chance;
  }

  setTimer(callback: () => void, delayMs: number): () => void {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Time until the next timer, or undefined without one. */
  get nextTimerMs(): number | undefined {
    const times = [...this.#timers].map(({ atMs }) => atMs - this.#nowMs);
    return times.length > 0 ? Math.max(0, Math.min(...times)) : undefined;
  }

  /** Advances the clock: runs the timers that become due, in order, and the promises that they resolve. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.callback();
      await new Promise(setImmediate);
    }
    this.#nowMs = endMs;
  }
}
