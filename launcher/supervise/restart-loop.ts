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

const systemClock: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/**
 * Starts a process and restarts it whenever it exits, with exponential back-off.
 * @throws the error of the first start: a configuration error must stop the whole system immediately.
 */
export async function startRestartLoop(options: RestartLoopOptions): Promise<RestartLoop> {
  return new RestartLoop(options, await options.start());
}

type Running = Awaited<ReturnType<RestartLoopOptions['start']>>;

/** Disposing the loop stops the process and ends the restarts. */
export class RestartLoop implements AsyncDisposable {
  readonly #options: RestartLoopOptions;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #current: Running;
  /** Resolves when the process is released. */
  #held: PromiseWithResolvers<void> | undefined;
  #restarted = Promise.withResolvers<void>();
  #restarting: Promise<unknown> = Promise.resolve();

  constructor(options: RestartLoopOptions, current: Running) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#current = current;
    this.#ended = this.#run();
  }

  async hold(): Promise<void> {
    this.#held ??= Promise.withResolvers<void>();
    // A restart that was in progress replaces the process.
    await this.#restarting;
    await this.#current.stop();
    this.#restarted = Promise.withResolvers<void>();
  }

  /** @returns when the restarted process is ready. */
  async release(): Promise<void> {
    if (this.#held === undefined) return;
    this.#held.resolve();
    this.#held = undefined;
    await this.#restarted.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#held?.resolve();
    this.#restarted.resolve();
    await this.#current.stop();
    await this.#ended;
    // A restart in progress may have replaced the process.
    await this.#current.stop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let backoffMs = backoffMinMs;
    while (!signal.aborted) {
      const startedMs = this.#clock.nowMs();
      const exit = await this.#current.exited;
      if (signal.aborted) return;
      if (this.#held === undefined) this.#options.report(describeRestart(this.#options, exit));
      if (this.#held !== undefined || this.#clock.nowMs() - startedMs > healthyAfterMs)
        backoffMs = backoffMinMs;
      backoffMs = await this.#restart(backoffMs);
    }
  }

  /** Tries until the process is restarted, or the loop stops. @returns the next back-off. */
  async #restart(firstBackoffMs: number): Promise<number> {
    const { signal } = this.#stopping;
    for (let backoffMs = firstBackoffMs; ; ) {
      await this.#held?.promise;
      await this.#clock.sleep(backoffMs, signal).catch(() => {});
      backoffMs = Math.min(backoffMs * 2, backoffMaxMs);
      if (signal.aborted) return backoffMs;
      if (this.#held !== undefined) continue;
      const next = restart(this.#options);
      this.#restarting = next;
      const running = await next;
      if (running === undefined) continue;
      this.#current = running;
      this.#restarted.resolve();
      return backoffMs;
    }
  }
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
