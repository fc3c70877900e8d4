import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { QueuePosition } from '../../../lib/queue/failover.ts';
import { consumerName } from '../../../lib/queue/settings.ts';
import { quotaSettleTimeoutMs } from '../limits.ts';

/** The pause between two polls doubles from the minimum to the maximum. Storing a message takes about 10 ms. */
const pauseMinMs = 5;
const pauseMaxMs = 100;

/**
 * Waits until the writers have acknowledged, and so committed, every message of a stream up to a position. Returns without
 * it after `quotaSettleTimeoutMs`, also when nats-server is unreachable: the caller decides with the last known count.
 */
export async function awaitStored(
  manager: JetStreamManager,
  { stream, sequence }: QueuePosition,
): Promise<void> {
  const deadlineMs = performance.now() + quotaSettleTimeoutMs;
  for (
    let pauseMs = pauseMinMs;
    performance.now() < deadlineMs;
    pauseMs = Math.min(2 * pauseMs, pauseMaxMs)
  ) {
    const info = await manager.consumers.info(stream, consumerName).catch(() => undefined);
    if (info !== undefined && info.ack_floor.stream_seq >= sequence) return;
    await sleep(pauseMs);
  }
}
