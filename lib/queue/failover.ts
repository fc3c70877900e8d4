import { JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Acknowledged, type QueueLossError } from './acknowledged.ts';
import { QueueInterruptedError } from './link.ts';
import { createPublish } from './publish.ts';
import type { QueueStream } from './settings.ts';

/** Where a message lies in the queue. */
export interface QueuePosition {
  readonly stream: string;
  readonly sequence: number;
}

export interface QueuePublisher {
  /** Publishes one message at a time, and returns where it is once it is on disk. @throws what `createPublish` does. */
  publish(payload: Uint8Array, messageId: string): Promise<QueuePosition>;
  /** The alarm that was raised, if one was. */
  readonly loss: QueueLossError | undefined;
}

/**
 * Publishes to the first of several streams until that fails, and then to the next one, at once: while a stream waits
 * for its new leader, another one takes the messages. A message whose PubAck was lost may then be in two streams; it is
 * stored once all the same, since Postgres owns deduplication.
 *
 * Where no stream answers, the nats-server that we are connected to may be cut off from its peers: another one is tried.
 *
 * @param onLoss told of each stream that lost what it had acknowledged; then nothing is published any more.
 */
export function openPublisher(
  connection: NatsConnection,
  streams: readonly QueueStream[],
  onLoss: (loss: QueueLossError) => void,
): QueuePublisher {
  const publishers = streams.map(({ name, subject }) => {
    const acknowledged = new Acknowledged(onLoss);
    return { name, acknowledged, publish: createPublish(connection, acknowledged, { name, subject }) };
  });
  const findLoss = () => publishers.find(({ acknowledged }) => acknowledged.loss)?.acknowledged.loss;
  let preferred = 0;
  return {
    get loss() {
      return findLoss();
    },
    async publish(payload, messageId) {
      let failure: unknown;
      let triesMax = publishers.length;
      for (let tries = 0; tries < triesMax; tries++) {
        const publisher = publishers[preferred];
        if (publisher === undefined) break;
        const loss = findLoss();
        if (loss !== undefined) throw loss;
        try {
          return { stream: publisher.name, sequence: await publisher.publish(payload, messageId) };
        } catch (error) {
          failure = error;
          if (!(error instanceof QueueInterruptedError)) preferred = (preferred + 1) % publishers.length;
          // The stream is not to blame for the connection: it is asked once more, over the next one.
          else if (publishers.length > 1) triesMax = publishers.length + 1;
        }
      }
      if (publishers.length > 1 && !(failure instanceof JetStreamApiError)) void connection.reconnect();
      throw failure;
    },
  };
}
