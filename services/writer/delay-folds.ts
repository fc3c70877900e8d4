import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../lib/db/database.ts';
import type { Logger } from '../../lib/log.ts';
import { foldDelays } from '../../lib/store-delays/fold-delays.ts';
import { foldIntervalMs } from '../../lib/store-delays/limits.ts';

/**
 * Adds how long new events took from receipt until they were stored to the statistics, every `foldIntervalMs`. What a pass does not
 * count, because Postgres is away or the writer ends, the next one does.
 */
export function startDelayFolds(database: Database, log: Logger): AsyncDisposable {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await foldDelays(database).catch((error: unknown) =>
        log.warn({ err: error }, 'delays of stored events were not counted; trying again later'),
      );
      await sleep(foldIntervalMs, undefined, stopping).catch(() => {});
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}
