import type { JetStreamManager } from '@nats-io/jetstream';
import { z } from 'zod';
import { figureReuseMs } from '../../platform/metrics/limits.ts';
import { shareResult } from '../../platform/shared-result.ts';
import { readOldestPending, readStreamStates } from './stream-state.ts';

/** The state of a stream of the queue. */
export const queueFigures = z
  .object({
    stream: z.string(),
    /** Messages that are not stored yet, and the age of the oldest of them. */
    messages: z.number(),
    oldestSeconds: z.number(),
    /** Used share of `bytesMax`. */
    bytesRatio: z.number(),
    bytesMax: z.number(),
    /** How far the replay window reaches back. */
    windowSeconds: z.number(),
    /** The nodes of a cluster; none for a single nats-server. */
    nodes: z.array(z.object({ name: z.string(), state: z.enum(['leader', 'current', 'behind', 'offline']) })),
  })
  .meta({ id: 'QueueStream' });
export type QueueFigures = z.infer<typeof queueFigures>;

/** Reads at most every `figureReuseMs`. The function rejects when nats-server does not answer. */
export function openQueueFigures(manager: JetStreamManager): () => Promise<QueueFigures[]> {
  return shareResult(figureReuseMs, async () => {
    const states = await readStreamStates(manager);
    return Promise.all(
      states.map(async (state) => {
        const oldest = await readOldestPending(manager, state);
        const { stream, messages, nowMs, firstAt, bytes, bytesMax, pending, nodes } = state;
        const secondsSince = (time: Date | undefined) =>
          time === undefined ? 0 : Math.max(0, nowMs - time.getTime()) / 1_000;
        return {
          stream: stream.name,
          messages: pending,
          oldestSeconds: secondsSince(oldest),
          bytesRatio: bytes / bytesMax,
          bytesMax,
          windowSeconds: stream.keepsStored && messages > 0 ? secondsSince(firstAt) : 0,
          nodes,
        };
      }),
    );
  });
}
