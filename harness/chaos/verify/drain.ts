import type { System } from '../../system/system.ts';
import { until } from '../../wait.ts';

/** The number of messages in the queue; undefined when a server does not respond. */
export async function countQueued({ monitorUrls }: Pick<System, 'monitorUrls'>): Promise<number | undefined> {
  try {
    const counts = await Promise.all(
      monitorUrls.map(async (url) => {
        const response = await fetch(new URL('/jsz', url), { signal: AbortSignal.timeout(2_000) });
        return ((await response.json()) as { messages?: number }).messages ?? 0;
      }),
    );
    return Math.max(...counts);
  } catch {
    return undefined;
  }
}

/**
 * Waits until the queue is empty: everything accepted is stored or in quarantine.
 *
 * @returns the time it took in milliseconds.
 * @throws Error after the time-out.
 */
export async function drain(system: Pick<System, 'monitorUrls'>, timeoutMs: number): Promise<number> {
  const startedMs = performance.now();
  let queued: number | undefined;
  await until(
    async () => {
      queued = await countQueued(system);
      return queued === 0;
    },
    timeoutMs,
    () => `the queue still holds ${queued ?? 'an unknown number of'} messages`,
  );
  return performance.now() - startedMs;
}
