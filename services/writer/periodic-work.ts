import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/log.ts';

/** Work in the background. What one pass does not do, because Postgres is away or the writer ends, the next one does. */
export interface PeriodicWork {
  readonly run: () => Promise<unknown>;
  /** Pause between two passes. */
  readonly intervalMs: number;
  /** The log message of a pass that failed. */
  readonly failure: string;
}

export function startPeriodicWork({ run, intervalMs, failure }: PeriodicWork, log: Logger): AsyncDisposable {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await run().catch((error: unknown) => log.warn({ err: error }, failure));
      await sleep(intervalMs, undefined, stopping).catch(() => {});
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}
