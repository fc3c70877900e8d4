import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { countQueued, type Watermark } from '../../store/queue-state/watermark.ts';
import { queuePollMs, queueStuckMs } from './limits.ts';

/**
 * Messages published before the start are still queued: no writer is running, or Postgres rejects both the
 * events and quarantine entries.
 */
export class QueueStuckError extends Error {
  override name = 'QueueStuckError';
}

/**
 * Waits until every message up to the watermarks is stored or in quarantine.
 *
 * @param options `stuckMs`: milliseconds without progress after which it gives up.
 * @throws QueueStuckError.
 */
export async function untilStored(
  connection: NatsConnection,
  watermarks: readonly Watermark[],
  options: { report: (queued: number) => void; stuckMs?: number },
): Promise<void> {
  const { report, stuckMs = queueStuckMs } = options;
  let least = Number.POSITIVE_INFINITY;
  let advancedAtMs = performance.now();
  for (;;) {
    const queued = await countQueued(connection, watermarks);
    if (queued === 0) return;
    if (queued < least) {
      least = queued;
      advancedAtMs = performance.now();
      report(queued);
    }
    if (performance.now() - advancedAtMs > stuckMs)
      throw new QueueStuckError(
        `${queued} messages that were accepted before the erasure began are still in the queue: is a writer running? Events already stored are erased. Run the command again to resume.`,
      );
    await sleep(queuePollMs);
  }
}
