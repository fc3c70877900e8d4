import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { pubAckTimeoutMs, queueReturnTimeoutMs } from '../limits.ts';
import { withTimeout } from '../timeout.ts';
import { watchLink } from './link.ts';
import { streamName, streamSubject } from './settings.ts';

/** A PubAck contradicts an earlier one: the stream has lost what it acknowledged, or is another stream. */
export class QueueLossError extends Error {
  override name = 'QueueLossError';
}

/**
 * A function that publishes one message at a time and returns its sequence number once it is on the server's disk.
 *
 * @throws QueueLossError when the stream's sequence went back (invariant of design §2).
 * @throws QueueInterruptedError as soon as the connection is lost, and otherwise when there is no PubAck in time: the
 *   message may be in the stream or not.
 */
export function createPublish(connection: NatsConnection) {
  const client = jetstream(connection);
  const link = watchLink(connection);
  let highest = 0;
  return async (payload: Uint8Array, messageId: string): Promise<number> => {
    const highestBefore = highest;
    // The client drops what is published while it is not connected, and says so only by the time-out.
    await withTimeout(queueReturnTimeoutMs, link.connected());
    const published = client.publish(streamSubject, payload, {
      msgID: messageId,
      timeout: pubAckTimeoutMs,
      expect: { streamName },
    });
    // Waiting out the time-out would keep every client waiting that long for a nats-server that is back in one second.
    const ack = await Promise.race([published, link.interrupted()]);
    if (ack.stream !== streamName) throw new QueueLossError(`the PubAck names the stream ${ack.stream}`);
    // A duplicate is answered with the sequence of the message that came first.
    if (!ack.duplicate && ack.seq <= highestBefore) {
      throw new QueueLossError(`the PubAck's sequence went back from ${highestBefore} to ${ack.seq}`);
    }
    highest = Math.max(highest, ack.seq);
    return ack.seq;
  };
}
