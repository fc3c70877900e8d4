import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from './thrown.ts';

export interface BackgroundWork<Result> {
  /** One pass. `signal` is aborted when the loop stops, which waits for the end of the pass. */
  readonly run: (signal: AbortSignal) => Result | PromiseLike<Result>;
  /** Pause between two passes, or how the result of a pass decides it. At 0 the next pass follows at once. */
  readonly intervalMs: number | ((result: Result) => number);
  /** Pause before the first pass; default 0. */
  readonly delayMs?: number;
  /** Pause after a pass that failed; default `intervalMs`, or a second when that is a function. */
  readonly retryMs?: number;
  /** The log message of a failed pass: what was not done. */
  readonly failure: string;
  /** Ends a pass in progress when the loop stops: closes its connection, kills its process. */
  readonly interrupt?: () => unknown;
}

const retryMsDefault = 1_000;

/** A service's log, or the terminal of `weir start`. */
export interface LoopLog {
  warn(details: { err: unknown }, message: string): void;
  info(message: string): void;
}

/**
 * Repeats work until it is disposed. No failure ends the loop or the process: the next pass does what one did
 * not. A failure is logged when it begins, changes and ends, not for each pass. The loop alone keeps no
 * process running.
 */
export function startLoop<Result>(work: BackgroundWork<Result>, log: LoopLog): AsyncDisposable {
  const stopping = new AbortController();
  const running = repeat(work, log, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await work.interrupt?.();
      await running;
    },
  };
}

async function repeat<Result>(
  {
    run,
    intervalMs,
    delayMs = 0,
    retryMs = typeof intervalMs === 'number' ? intervalMs : retryMsDefault,
    failure,
  }: BackgroundWork<Result>,
  log: LoopLog,
  signal: AbortSignal,
): Promise<void> {
  const pause = (ms: number) =>
    ms > 0 ? sleep(ms, undefined, { signal, ref: false }).catch(() => {}) : undefined;
  /** The last pass's error; undefined when it succeeded. */
  let failing: string | undefined;
  await pause(delayMs);
  while (!signal.aborted) {
    try {
      const result = await run(signal);
      if (failing !== undefined) log.info(`works again, after: ${failure}`);
      failing = undefined;
      await pause(typeof intervalMs === 'number' ? intervalMs : intervalMs(result));
    } catch (error) {
      if (signal.aborted) return;
      const message = messageOf(error);
      if (message !== failing) log.warn({ err: error }, failure);
      failing = message;
      await pause(retryMs);
    }
  }
}
