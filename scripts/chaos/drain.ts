import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from './system.ts';

const pollMs = 50;

/** How many messages the queue holds; undefined when a server does not tell. */
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
 * Waits until the queue is empty: everything accepted is stored, or in quarantine.
 *
 * @returns how long it took in milliseconds.
 * @throws Error when it does not become empty in time.
 */
export async function drain(system: Pick<System, 'monitorUrls'>, timeoutMs: number): Promise<number> {
  const startedMs = performance.now();
  while ((await countQueued(system)) !== 0) {
    if (performance.now() - startedMs > timeoutMs) {
      throw new Error(`the queue still holds ${await countQueued(system)} messages`);
    }
    await sleep(pollMs);
  }
  return performance.now() - startedMs;
}
