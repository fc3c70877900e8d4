import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import { quotaSettleTimeoutMs } from '../../lib/limits.ts';
import type { QueuePosition } from '../../lib/queue/failover.ts';
import { consumerName } from '../../lib/queue/settings.ts';

/** First pause between two looks, in milliseconds; it doubles up to the second. The writer needs some ten itself. */
const pauseMinMs = 5;
const pauseMaxMs = 100;

/**
 * Waits until the writers have acknowledged, and so committed, every message of a stream up to a position. Gives up
 * after `quotaSettleTimeoutMs`, and when nats-server cannot be asked: the caller decides on what it knows.
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
