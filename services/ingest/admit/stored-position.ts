import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { QueuePosition } from '../../../platform/queue/failover.ts';
import { consumerName, type QueueStream } from '../../../platform/queue/settings.ts';
import { shareResult } from '../../../platform/shared-result.ts';
import { withTimeout } from '../../../platform/timeout.ts';
import type { StoredUpTo } from './pending-events.ts';

/** How long a request near its quota waits until pending events are counted, before the response is a 503. */
const quotaSettleTimeoutMs = 2_000;

/** The pause between polls doubles from the minimum to the maximum. Storing a message takes about 10 ms. */
const pauseMinMs = 5;
const pauseMaxMs = 100;

/** Time-out of one request for a stream's position: a stream without a leader does not reply for seconds. */
const answerTimeoutMs = 250;

export type StoredPosition = ReturnType<typeof openStoredPosition>;

/** How far the writers have stored the queue. */
export function openStoredPosition(manager: JetStreamManager, streams: readonly QueueStream[]) {
  // One read serves all callers: at its limit, each space asks every few milliseconds.
  const read = shareResult(pauseMinMs, async (): Promise<StoredUpTo> => {
    const storedUpTo = new Map<string, number>();
    await Promise.all(
      streams.map(async ({ name }) => {
        const asked = withTimeout(answerTimeoutMs, manager.consumers.info(name, consumerName));
        const info = await asked.catch(() => undefined);
        if (info !== undefined) storedUpTo.set(name, info.ack_floor.stream_seq);
      }),
    );
    return storedUpTo;
  });
  return {
    /** Omits streams that do not reply. */
    read,
    /**
     * Waits until the writers have acknowledged, and so committed, every message up to these positions.
     * @returns false after `quotaSettleTimeoutMs`, also when nats-server is unreachable.
     */
    async reaches(positions: readonly QueuePosition[]): Promise<boolean> {
      const deadlineMs = performance.now() + quotaSettleTimeoutMs;
      for (
        let pauseMs = pauseMinMs;
        performance.now() < deadlineMs;
        pauseMs = Math.min(2 * pauseMs, pauseMaxMs)
      ) {
        const storedUpTo = await read();
        if (positions.every(({ stream, sequence }) => (storedUpTo.get(stream) ?? 0) >= sequence)) return true;
        await sleep(pauseMs);
      }
      return false;
    },
  };
}
