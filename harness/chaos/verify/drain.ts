import { countQueued } from '../../queued.ts';
import type { System } from '../../system/system.ts';
import { until } from '../../wait.ts';

/**
 * Waits until nothing waits in the queue: everything accepted is stored or in quarantine.
 *
 * @returns the time it took in milliseconds.
 * @throws Error after the time-out.
 */
export async function drain(system: Pick<System, 'monitorUrls'>, timeoutMs: number): Promise<number> {
  const startedMs = performance.now();
  let queued: number | undefined;
  await until(
    async () => {
      queued = await countQueued(system.monitorUrls);
      return queued === 0;
    },
    timeoutMs,
    () => `the queue still holds ${queued ?? 'an unknown number of'} messages`,
  );
  return performance.now() - startedMs;
}
