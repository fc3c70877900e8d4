import { setTimeout as sleep } from 'node:timers/promises';
import { describeExit, type ProcessExit, type SpawnedProcess } from '../process/child-process.ts';

const backoffMinMs = 100;
const backoffMaxMs = 5_000;

/** A process that ran this long resets the back-off. Short, so that repeated kills do not add up. */
const healthyAfterMs = 1_500;

export interface RestartLoopOptions {
  name: string;
  start: () => Promise<Pick<SpawnedProcess, 'exited' | 'stop'>>;
  lastOutput: () => string;
  report: (line: string) => void;
  clock?: Clock;
}

export interface Clock {
  nowMs(): number;
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>;
}

/** Disposing the loop stops the process and ends the restarts. */
export interface RestartLoop extends AsyncDisposable {
  hold(): Promise<void>;
  /** @returns when the restarted process is ready. */
  release(): Promise<void>;
}

const systemClock: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/**
 * Starts a process and restarts it whenever it exits, with exponential back-off.
 * @throws the error of the first start: a configuration error must stop the whole system immediately.
 */
export async function startRestartLoop(options: RestartLoopOptions): Promise<RestartLoop> {
  const { clock = systemClock } = options;
  const stopping = new AbortController();
  let current = await options.start();
  /** Resolves when the process is released. */
  let held: PromiseWithResolvers<void> | undefined;
  let restarted = Promise.withResolvers<void>();
  let restarting: Promise<unknown> = Promise.resolve();
  const loop = async () => {
    let backoffMs = backoffMinMs;
    while (!stopping.signal.aborted) {
      const startedMs = clock.nowMs();
      const exit = await current.exited;
      if (stopping.signal.aborted) return;
      if (held === undefined) options.report(describeRestart(options, exit));
      if (held !== undefined || clock.nowMs() - startedMs > healthyAfterMs) backoffMs = backoffMinMs;
      while (!stopping.signal.aborted) {
        await held?.promise;
        await clock.sleep(backoffMs, stopping.signal).catch(() => {});
        backoffMs = Math.min(backoffMs * 2, backoffMaxMs);
        if (held !== undefined || stopping.signal.aborted) continue;
        const next = restart(options);
        restarting = next;
        const running = await next;
        if (running === undefined) continue;
        current = running;
        restarted.resolve();
        break;
      }
    }
  };
  const ended = loop();
  return {
    async hold() {
      held ??= Promise.withResolvers<void>();
      // A restart that was in progress replaces the process.
      await restarting;
      await current.stop();
      restarted = Promise.withResolvers<void>();
    },
    async release() {
      if (held === undefined) return;
      held.resolve();
      held = undefined;
      await restarted.promise;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      held?.resolve();
      restarted.resolve();
      await current.stop();
      await ended;
      // A restart in progress may have replaced the process.
      await current.stop();
    },
  };
}

function describeRestart({ name, lastOutput }: RestartLoopOptions, exit: ProcessExit): string {
  let output = '';
  try {
    output = lastOutput();
  } catch {
    // A log that cannot be read must not end the restarts.
  }
  return `${name} exited (${describeExit(exit)})${output && `: ${output}`}; restarting`;
}

async function restart({ name, start, report }: RestartLoopOptions) {
  try {
    const next = await start();
    report(`${name} restarted`);
    return next;
  } catch (error) {
    report(`${name} could not be restarted: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}
