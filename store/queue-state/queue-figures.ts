import type { JetStreamManager } from '@nats-io/jetstream';
import { figureReuseMs } from '../../platform/metrics/limits.ts';
import { shareResult } from '../../platform/shared-result.ts';
import { type QueueNode, readOldestPending, readStreamStates } from './stream-state.ts';

export interface QueueFigures {
  readonly stream: string;
  readonly messages: number;
  /** Age of the oldest of them; 0 without one. */
  readonly oldestSeconds: number;
  /** Used share of the stream's `max_bytes`. The replay window takes at most half of them. */
  readonly bytesRatio: number;
  readonly bytesMax: number;
  /** The age of the oldest message that is kept; 0 without one. */
  readonly windowSeconds: number;
  /** The nodes of a cluster that hold the stream; none for a single nats-server. */
  readonly nodes: QueueNode[];
}

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
