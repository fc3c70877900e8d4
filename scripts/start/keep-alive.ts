import { setTimeout as sleep } from 'node:timers/promises';
import { describeExit, type SpawnedProcess } from '../provision/embedded-process.ts';

/** A process that dies again and again is tried less and less often, up to this. */
const backoffMinMs = 100;
const backoffMaxMs = 5_000;

/**
 * Who worked this long did not die of its start: the back-off begins anew. Short, since a process that is killed again and
 * again has to be back again and again.
 */
export const healthyAfterMs = 1_500;

export interface KeepAliveOptions {
  name: string;
  /** Starts the process, and resolves when it is ready to work. */
  start: () => Promise<Pick<SpawnedProcess, 'exited' | 'stop'>>;
  /** The last thing the process said, for the reason of its death. */
  lastWords: () => string;
  /** Takes one line for the operator. */
  report: (line: string) => void;
}

/**
 * Starts a process and starts it again whenever it ends, with exponential back-off. Disposing it stops the process for
 * good.
 *
 * @throws what the first start throws: bad surroundings are to stop everything at once.
 */
export async function keepAlive(options: KeepAliveOptions): Promise<AsyncDisposable> {
  const stopping = new AbortController();
  let current = await options.start();
  const loop = async () => {
    let backoffMs = backoffMinMs;
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      const exit = await current.exited;
      if (stopping.signal.aborted) return;
      const words = options.lastWords();
      options.report(
        `${options.name} ended (${describeExit(exit)})${words && `: ${words}`}; starting it again`,
      );
      if (Date.now() - startedAt > healthyAfterMs) backoffMs = backoffMinMs;
      while (!stopping.signal.aborted) {
        await sleep(backoffMs, undefined, { signal: stopping.signal }).catch(() => {});
        backoffMs = Math.min(backoffMs * 2, backoffMaxMs);
        const next = stopping.signal.aborted ? undefined : await startAgain(options);
        if (next === undefined) continue;
        current = next;
        break;
      }
    }
  };
  const ended = loop();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await current.stop();
      await ended;
      // A start that was under way when we stopped has brought another one.
      await current.stop();
    },
  };
}

async function startAgain({ name, start, report }: KeepAliveOptions) {
  try {
    const next = await start();
    report(`${name} runs again`);
    return next;
  } catch (error) {
    report(`${name} did not start again: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}
