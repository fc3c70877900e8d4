import { setTimeout as sleep } from 'node:timers/promises';
import {
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { pubAckTimeoutMs, queueLossLookMs, queueLossLooks, queueReturnTimeoutMs } from '../limits.ts';
import { withTimeout } from '../timeout.ts';
import type { Acknowledged } from './acknowledged.ts';
import { watchLink } from './link.ts';
import { firstStream, type QueueStream } from './settings.ts';

/** The queue gave no sign in time. What was sent may be in it or not. */
export class QueueSilentError extends Error {
  override name = 'QueueSilentError';
}

/**
 * A function that publishes one message at a time and returns its sequence number once it is on the server's disk.
 *
 * @throws QueueLossError when the stream's sequence went back, and from then on.
 * @throws QueueInterruptedError as soon as the connection is lost, and QueueSilentError when there is no PubAck in time:
 *   the message may be in the stream or not.
 */
export function createPublish(
  connection: NatsConnection,
  acknowledged: Acknowledged,
  stream: QueueStream = firstStream,
) {
  const client = jetstream(connection);
  const link = watchLink(connection, () => confirmStream(connection, client, acknowledged));
  const publish = async (payload: Uint8Array, messageId: string): Promise<number> => {
    // The client drops what is published while it is not connected, and says so only by the time-out.
    await withTimeout(queueReturnTimeoutMs, link.connected());
    if (acknowledged.loss !== undefined) throw acknowledged.loss;
    const highestBefore = acknowledged.highest;
    const published = client.publish(stream.subject, payload, {
      msgID: messageId,
      timeout: pubAckTimeoutMs,
      expect: { streamName: stream.name },
    });
    // Waiting out the time-out would keep every client waiting that long for a nats-server that is back in one second.
    const ack = await Promise.race([published, link.interrupted()]);
    if (ack.stream !== stream.name) throw acknowledged.raise(`the PubAck names the stream ${ack.stream}`);
    // A duplicate is answered with the sequence of the message that came first.
    if (!ack.duplicate && ack.seq <= highestBefore) {
      throw acknowledged.raise(`the PubAck's sequence went back from ${highestBefore} to ${ack.seq}`);
    }
    acknowledged.note(ack.seq);
    return ack.seq;
  };
  return (payload: Uint8Array, messageId: string) => publish(payload, messageId).catch(tellSilence);
}

/**
 * Compares what the stream of a single server holds with what it has acknowledged, before anything more is entrusted to
 * it. Only a stream that stays behind is one that has lost something.
 */
async function confirmStream(
  connection: NatsConnection,
  client: JetStreamClient,
  acknowledged: Acknowledged,
): Promise<void> {
  // A leader that is cut off from its cluster tells what it knows, without what the next leader has acknowledged since.
  // There a PubAck stands for a majority, and the next one tells.
  if (connection.info?.cluster !== undefined) return;
  const manager = await client.jetstreamManager(false);
  let lastSequence = 0;
  for (let looks = 0; looks < queueLossLooks && !connection.isClosed(); ) {
    const seen = await readLastSequence(manager);
    if (seen !== undefined) {
      if (seen >= acknowledged.highest) return;
      lastSequence = seen;
      looks += 1;
    }
    await sleep(queueLossLookMs, undefined, { ref: false });
  }
  if (connection.isClosed()) return;
  acknowledged.raise(`the stream went back from ${acknowledged.highest} to ${lastSequence}`);
}

/** 0 for a stream that is not there; undefined when nats-server does not tell, because it is still starting. */
function readLastSequence(manager: JetStreamManager): Promise<number | undefined> {
  return manager.streams.info(firstStream.name).then(
    ({ state }) => state.last_seq,
    (error: unknown) => (error instanceof JetStreamApiError && error.status === 404 ? 0 : undefined),
  );
}

/** Ours and the client's time-outs are two classes of one name. */
function tellSilence(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'TimeoutError') throw error;
  throw new QueueSilentError('nats-server did not confirm in time', { cause: error });
}
