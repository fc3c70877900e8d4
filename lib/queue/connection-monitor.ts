import type { NatsConnection } from '@nats-io/transport-node';

/** The connection was lost before the PubAck: the message may be in the stream or not. */
export class QueueConnectionLostError extends Error {
  override name = 'QueueConnectionLostError';
}

/** Reports when the connection to nats-server is lost and usable again. */
export interface ConnectionMonitor {
  /** Resolves at once while connected; otherwise after the client has reconnected and `prepare` has run. */
  connected(): Promise<void>;
  /** Rejects with QueueConnectionLostError when the connection is next lost. */
  lost(): Promise<never>;
}

/**
 * Monitors a connection until it is closed.
 *
 * @param prepare runs after each reconnect, before the connection is used. It must not reject.
 */
export function monitorConnection(
  connection: NatsConnection,
  prepare: () => Promise<void>,
): ConnectionMonitor {
  let connected = Promise.withResolvers<void>();
  let lost = handledRejection();
  connected.resolve();
  const watch = async () => {
    for await (const { type } of connection.status()) {
      if (type === 'reconnect') void prepare().then(connected.resolve);
      if (type !== 'disconnect') continue;
      connected = Promise.withResolvers();
      lost.reject(new QueueConnectionLostError('the connection to nats-server was lost before the PubAck'));
      lost = handledRejection();
    }
  };
  void watch();
  return { connected: () => connected.promise, lost: () => lost.promise };
}

/** A rejection without a listener would end the process. */
function handledRejection(): PromiseWithResolvers<never> {
  const resolvers = Promise.withResolvers<never>();
  resolvers.promise.catch(() => {});
  return resolvers;
}
