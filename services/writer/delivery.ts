import { setTimeout as sleep } from 'node:timers/promises';
import { type ConsumerMessages, type JsMsg, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { fetchBytesMax } from '../../lib/limits.ts';
import type { Logger } from '../../lib/log.ts';
import { consumerName, streamName } from '../../lib/queue/settings.ts';

/** A queue message as the writer needs it. */
export type Delivered = Pick<JsMsg, 'data' | 'seq' | 'ack' | 'nak' | 'working'>;

/** Pause before the consumer is opened again after it failed, in milliseconds. */
const reopenDelayMs = 250;

/**
 * The messages of the stream, for ever, at most `fetchBytesMax` of them ahead of the reader. Whatever ends the
 * consumer (nats-server restarted, the leader moved) it is opened again. Disposing it ends the iteration.
 */
export function openDelivery(
  connection: NatsConnection,
  log: Logger,
): AsyncIterable<Delivered> & AsyncDisposable {
  let closed = false;
  let current: ConsumerMessages | undefined;

  async function* deliver(): AsyncGenerator<Delivered> {
    while (!closed) {
      try {
        const consumer = await jetstream(connection).consumers.get(streamName, consumerName);
        current = await consumer.consume({ max_bytes: fetchBytesMax, expires: 10_000 });
        if (closed) await current.close();
        yield* current;
      } catch (error) {
        if (closed) return;
        log.warn({ err: error }, 'the consumer ended; opening it again');
      }
      if (!closed) await sleep(reopenDelayMs);
    }
  }

  return {
    [Symbol.asyncIterator]: deliver,
    async [Symbol.asyncDispose]() {
      closed = true;
      await current?.close();
    },
  };
}
