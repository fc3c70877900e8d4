import { setTimeout as sleep } from 'node:timers/promises';
import {
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
} from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { withTimeout } from '../timeout.ts';
import { monitorConnection } from './connection-monitor.ts';
import { lossCheckIntervalMs, lossChecksMax, pubAckTimeoutMs, reconnectTimeoutMs } from './limits.ts';
import type { SequenceGuard } from './sequence-guard.ts';
import type { QueueStream } from './settings.ts';

/** No PubAck within `pubAckTimeoutMs`: the message may be in the stream or not. */
export class PubAckTimeoutError extends Error {
  override name = 'PubAckTimeoutError';
}

export interface PublishOptions {
  /** Called when the server had the message already. */
  onRepeat?: () => void;
  /** The span that publishes, for the writer's span: a header of the message (W3C Trace Context). */
  traceparent?: string | undefined;
}

export const traceparentHeader = 'traceparent';

/**
 * Publishes one message at a time, and resolves with its sequence once it is on the server's disk (of three
 * replicas: on a majority).
 * @throws QueueLossError from when the stream's sequence went back; QueueConnectionLostError before the
 * PubAck, or PubAckTimeoutError: the message may be in the stream or not.
 */
export function createStreamPublisher(connection: NatsConnection, guard: SequenceGuard, stream: QueueStream) {
  const client = jetstream(connection);
  const monitor = monitorConnection(connection, () => confirmStream({ connection, client, guard, stream }));
  const publish = async (
    payload: Uint8Array,
    messageId: string,
    { onRepeat, traceparent }: PublishOptions,
  ): Promise<number> => {
    // The client drops messages while it is disconnected, and reports that only as a time-out.
    await withTimeout(reconnectTimeoutMs, monitor.connected());
    if (guard.loss !== undefined) throw guard.loss;
    const highestBefore = guard.highest;
    const published = client.publish(stream.subject, payload, {
      msgID: messageId,
      timeout: pubAckTimeoutMs,
      expect: { streamName: stream.name },
      ...(traceparent !== undefined && { headers: headersWith(traceparent) }),
    });
    // As soon as the connection is lost: the time-out is longer than a restart of nats-server.
    const ack = await monitor.untilLost(published);
    if (ack.stream !== stream.name) throw guard.raise(`the PubAck names the stream ${ack.stream}`);
    // For a duplicate the PubAck has the sequence of the first message with this id.
    if (!ack.duplicate && ack.seq <= highestBefore) {
      throw guard.raise(`the PubAck's sequence went back from ${highestBefore} to ${ack.seq}`);
    }
    if (ack.duplicate) onRepeat?.();
    guard.record(ack.seq);
    return ack.seq;
  };
  return (payload: Uint8Array, messageId: string, options: PublishOptions = {}) =>
    publish(payload, messageId, options).catch(rethrowTimeout);
}

function headersWith(traceparent: string) {
  const own = headers();
  own.set(traceparentHeader, traceparent);
  return own;
}

interface ConfirmedStream {
  connection: NatsConnection;
  client: JetStreamClient;
  guard: SequenceGuard;
  stream: QueueStream;
}

/** Raises a loss when a reconnected single server's last sequence stays below the highest PubAck. */
async function confirmStream({ connection, client, guard, stream }: ConfirmedStream): Promise<void> {
  // Not in a cluster: a partitioned leader lacks what the new one has acknowledged. There a PubAck means a
  // majority has the message, and the next PubAck shows a loss.
  if (connection.info?.cluster !== undefined) return;
  const manager = await client.jetstreamManager(false);
  let lastSequence = 0;
  for (let checks = 0; checks < lossChecksMax && !connection.isClosed(); ) {
    const seen = await readLastSequence(manager, stream);
    if (seen !== undefined) {
      if (seen >= guard.highest) return;
      lastSequence = seen;
      checks += 1;
    }
    await sleep(lossCheckIntervalMs, undefined, { ref: false });
  }
  if (connection.isClosed()) return;
  guard.raise(`the stream went back from ${guard.highest} to ${lastSequence}`);
}

/** @returns 0 without the stream; undefined when nats-server does not answer, as while it starts. */
function readLastSequence(manager: JetStreamManager, { name }: QueueStream): Promise<number | undefined> {
  return manager.streams.info(name).then(
    ({ state }) => state.last_seq,
    (error: unknown) => (error instanceof JetStreamApiError && error.status === 404 ? 0 : undefined),
  );
}

/** The client's TimeoutError and ours (platform/timeout.ts) are two classes with one name. */
function rethrowTimeout(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'TimeoutError') throw error;
  throw new PubAckTimeoutError('no PubAck from nats-server in time', { cause: error });
}
