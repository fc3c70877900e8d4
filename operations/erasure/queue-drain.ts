import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Database } from '../../store/db/database.ts';
import { readStoredPositions } from '../../store/queue-state/stored-positions.ts';
import { countQueued, readStreams, type Watermark } from '../../store/queue-state/watermark.ts';
import { queuePollMs, queueStuckMs } from './limits.ts';
import type { Forgotten } from './receipt.ts';

/**
 * Messages from before an erasure stay queued: no writer runs, or Postgres rejects even quarantine entries.
 */
export class QueueStuckError extends Error {
  override name = 'QueueStuckError';
}

/** Waits until every message up to the watermarks is stored or in quarantine. @throws QueueStuckError. */
export async function untilStored(
  connection: NatsConnection,
  watermarks: readonly Watermark[],
  report: (text: string) => void,
): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  let advancedAtMs = performance.now();
  for (;;) {
    const queued = await countQueued(connection, watermarks);
    if (queued === 0) return;
    if (queued < least) {
      least = queued;
      advancedAtMs = performance.now();
      report(`waiting for ${queued} messages of the queue to be stored`);
    }
    if (performance.now() - advancedAtMs > queueStuckMs)
      throw new QueueStuckError(
        `${queued} messages that were accepted before the erasure began are still in the queue: is a writer running? Events already stored are erased. Run the command again to resume.`,
      );
    await sleep(queuePollMs);
  }
}

/** A window is purged in steps of a hundredth, every second: this is later than both. */
const purgeDelayShare = 0.02;
const purgeDelayMs = 60_000;

const blocks = 'nats-server reuses or removes the blocks of its files later';

/**
 * When the queue loses the messages that were accepted before an erasure began: when stored or, in streams
 * with a replay window, when the window has moved past them.
 * @param options `startMs`: when the erasure began; `drainedAtMs`: when all messages from before it were
 * stored.
 */
export async function forgottenByQueue(
  database: Database,
  connection: NatsConnection,
  {
    startMs,
    drainedAtMs,
    watermarks,
  }: { startMs: number; drainedAtMs: number; watermarks: readonly Watermark[] },
): Promise<Forgotten> {
  const streams = await readStreams(connection);
  const kept = streams.filter(
    ({ stream, messages, firstSequence }) =>
      stream.keepsStored &&
      messages > 0 &&
      watermarks.some((one) => one.stream === stream.name && one.sequence >= firstSequence),
  );
  if (kept.length === 0)
    return {
      at: new Date(drainedAtMs).toISOString(),
      from: `the messages were removed from the stream; ${blocks}`,
    };
  const positions = await readStoredPositions(database);
  const windows = kept.map(({ stream }) => positions.find((one) => one.stream === stream.name)?.windowMs);
  const windowMs = windows.includes(undefined) ? undefined : Math.max(...windows.map(Number));
  if (windowMs === undefined)
    return {
      at: null,
      from: 'the messages are in the replay window, and no writer has recorded how long it is',
    };
  const endMs = startMs + windowMs * (1 + purgeDelayShare) + purgeDelayMs;
  return {
    at: new Date(Math.max(endMs, drainedAtMs)).toISOString(),
    from: `the replay window of ${windowMs / 3_600_000} hours, which a running writer purges; ${blocks}`,
  };
}
