import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { countQueued, type Watermark } from '../../lib/queue/watermark.ts';
import { queuePollMs, queueStuckMs } from './limits.ts';

/** Messages of before the start stay in the queue: no writer runs, or Postgres and its quarantine refuse them. */
export class QueueStuckError extends Error {
  override name = 'QueueStuckError';
}

/**
 * Waits until every message up to the watermarks is stored or in quarantine.
 *
 * @param options `stuckMs` is how long it waits for a queue that does not advance.
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
        `${queued} messages that were accepted before the erasure began are still in the queue: is a writer running? What is stored is erased. Run the command again: it goes on.`,
      );
    await sleep(queuePollMs);
  }
}
