import type { JetStreamManager } from '@nats-io/jetstream';
import { figureReuseMs } from '../metrics/limits.ts';
import type { QueueStream } from '../queue/settings.ts';
import { shareResult } from '../shared-result.ts';

/** The state of a stream of the queue. */
export interface QueueFigures {
  readonly stream: string;
  /** Messages that are not stored yet. */
  readonly messages: number;
  /** Age of the oldest of them; 0 without one. */
  readonly oldestSeconds: number;
  /** Used share of the stream's `max_bytes`. */
  readonly bytesRatio: number;
}

/** Makes a function that reads the state of the queue, at most every `figureReuseMs`. It rejects when nats-server does not answer. */
export function openQueueFigures(
  manager: JetStreamManager,
  streams: readonly QueueStream[],
): () => Promise<QueueFigures[]> {
  return shareResult(figureReuseMs, () =>
    Promise.all(
      streams.map(async ({ name }) => {
        const { state, config } = await manager.streams.info(name);
        const ageMs = state.messages === 0 ? 0 : Date.now() - Date.parse(state.first_ts);
        return {
          stream: name,
          messages: state.messages,
          oldestSeconds: Math.max(0, ageMs) / 1_000,
          bytesRatio: state.bytes / config.max_bytes,
        };
      }),
    ),
  );
}
