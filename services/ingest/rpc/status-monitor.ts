/** Interval of the readiness check that all Health.Watch streams share. */
export const healthWatchMs = 1_000;

/**
 * Polls a status every `healthWatchMs` while it has watchers, and wakes them when it changes. All watchers
 * share one poll. Disposing it ends all of them.
 */
export class StatusMonitor<Status> implements Disposable {
  readonly #read: () => Promise<Status>;
  /** Called on each change of the status. */
  readonly #wakers = new Set<() => void>();
  #watchers = 0;
  #status: Status | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;

  constructor(read: () => Promise<Status>) {
    this.#read = read;
  }

  /** Yields the status, and then each change, until the signal is aborted or the monitor is disposed. */
  async *watch(signal: AbortSignal): AsyncGenerator<Status> {
    this.#watchers += 1;
    this.#schedule();
    let seen: Status | undefined;
    try {
      while (!signal.aborted && !this.#isDisposed) {
        this.#status ??= await this.#read();
        if (this.#status === seen) await this.#nextWake(signal);
        else {
          seen = this.#status;
          yield seen;
        }
      }
    } finally {
      this.#watchers -= 1;
      if (this.#watchers === 0) this.#stop();
    }
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#stop();
    this.#wake();
  }

  async #nextWake(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wakers.add(resolve);
    const onAbort = () => resolve();
    signal.addEventListener('abort', onAbort);
    await promise;
    signal.removeEventListener('abort', onAbort);
    this.#wakers.delete(resolve);
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#refresh(), healthWatchMs);
  }

  async #refresh(): Promise<void> {
    const timer = this.#timer;
    const status = await this.#read();
    // Polling was stopped during the read, and possibly started again.
    if (this.#timer !== timer) return;
    this.#timer = undefined;
    this.#schedule();
    if (status === this.#status) return;
    this.#status = status;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
  }

  /** Stops polling and forgets the status: the next watcher must not see an old one. */
  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#status = undefined;
  }
}
