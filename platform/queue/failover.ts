import { errors, type NatsConnection, RequestError } from '@nats-io/transport-node';
import { QueueConnectionLostError } from './connection-monitor.ts';
import { measurePublish, registerStream, setQueueLoss } from './metrics.ts';
import { type QueueLossError, SequenceGuard } from './sequence-guard.ts';
import type { QueueStream } from './settings.ts';
import { createStreamPublisher, PubAckTimeoutError, type PublishOptions } from './stream-publisher.ts';

export interface QueuePosition {
  readonly stream: string;
  readonly sequence: number;
}

export interface QueuePublisher {
  /**
   * Publishes one message at a time; resolves once it is on disk. @throws as `createStreamPublisher` does.
   */
  publish(payload: Uint8Array, messageId: string, options?: PublishOptions): Promise<QueuePosition>;
  readonly loss: QueueLossError | undefined;
}

/**
 * Publishes to one of several streams and fails over to the next at once, because electing a leader takes
 * seconds (ADR 0011). A message whose PubAck was lost may be in two streams; Postgres stores its events once.
 * When no stream answers, nats-server may be partitioned from its peers: the connection moves to another.
 * @param onLoss called once for each stream that lost acknowledged messages; after that every publish fails.
 */
export function openPublisher(
  connection: NatsConnection,
  streams: readonly QueueStream[],
  onLoss: (loss: QueueLossError) => void,
): QueuePublisher {
  const publishers = streams.map((stream) => {
    registerStream(stream.name);
    const guard = new SequenceGuard((loss) => {
      setQueueLoss(stream.name, true);
      onLoss(loss);
    });
    return { name: stream.name, guard, publish: createStreamPublisher(connection, guard, stream) };
  });
  const findLoss = () => publishers.find(({ guard }) => guard.loss)?.guard.loss;
  let preferred = 0;
  return {
    get loss() {
      return findLoss();
    },
    async publish(payload, messageId, options) {
      let failure: unknown;
      let triesMax = publishers.length;
      for (let tries = 0; tries < triesMax; tries++) {
        const publisher = publishers[preferred];
        if (publisher === undefined) break;
        const loss = findLoss();
        if (loss !== undefined) throw loss;
        try {
          const sequence = await measurePublish(publisher.name, () =>
            publisher.publish(payload, messageId, options),
          );
          return { stream: publisher.name, sequence };
        } catch (error) {
          // The client rejects a payload above max_payload before it sends it: failing over would not help.
          if (error instanceof errors.InvalidArgumentError) throw error;
          failure = error;
          if (!(error instanceof QueueConnectionLostError)) preferred = (preferred + 1) % publishers.length;
          // A lost connection says nothing about the stream: try it once more over the next connection.
          else if (publishers.length > 1) triesMax = publishers.length + 1;
        }
      }
      if (publishers.length > 1 && isUnanswered(failure)) void connection.reconnect();
      throw failure;
    },
  };
}

/** Whether neither a PubAck nor an error arrived. The client does not export its "no responders" error. */
function isUnanswered(error: unknown): boolean {
  if (error instanceof PubAckTimeoutError) return true;
  return error instanceof Error && error.cause instanceof RequestError && error.cause.isNoResponders();
}
