/** The clock, timers and random numbers of the platform. Tests replace them. */
export interface Runtime {
  /** Monotonic milliseconds. */
  nowMs(): number;
  /** Milliseconds since the epoch. */
  wallMs(): number;
  /** From 0 to 1. */
  random(): number;
  /**
   * A timer that does not keep a process alive, unless `keepsAlive`.
   *
   * @returns a function that cancels it.
   */
  setTimer(callback: () => void, delayMs: number, keepsAlive?: boolean): () => void;
}

interface Timer {
  unref?(): void;
}

export const platformRuntime: Runtime = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  random: () => Math.random(),
  setTimer(callback, delayMs, keepsAlive = false) {
    const timer: unknown = setTimeout(callback, delayMs);
    if (!keepsAlive && typeof timer === 'object' && timer !== null) (timer as Timer).unref?.();
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
  },
};

/** Waits, and keeps the process alive: the application may be awaiting it. */
export function sleep(runtime: Runtime, delayMs: number): Promise<void> {
  return new Promise((resolve) => void runtime.setTimer(resolve, delayMs, true));
}

/** Waits for a promise, but no longer than the given time. */
export async function within(runtime: Runtime, promise: Promise<void>, timeoutMs: number): Promise<void> {
  let cancel = () => {};
  const isOver = new Promise<void>((resolve) => {
    cancel = runtime.setTimer(resolve, timeoutMs, true);
  });
  await Promise.race([promise, isOver]);
  cancel();
}
