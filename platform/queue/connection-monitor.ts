import type { NatsConnection } from '@nats-io/transport-node';

/** The connection was lost before the PubAck: the message may be in the stream or not. */
export class QueueConnectionLostError extends Error {
  override name = 'QueueConnectionLostError';
}

/** @param prepare runs after each reconnect, before the connection is used. It must not reject. */
export function monitorConnection(connection: NatsConnection, prepare: () => Promise<void>) {
  let connected = Promise.withResolvers<void>();
  /**
   * Rejects waiting operations: `Promise.race` with a promise of the loss would keep each of them forever.
   */
  const waiting = new Set<(error: Error) => void>();
  connected.resolve();
  const watch = async () => {
    for await (const { type } of connection.status()) {
      if (type === 'reconnect') void prepare().then(connected.resolve);
      if (type !== 'disconnect') continue;
      connected = Promise.withResolvers();
      const error = new QueueConnectionLostError('the connection to nats-server was lost before the PubAck');
      for (const reject of waiting) reject(error);
    }
  };
  void watch();
  return {
    /** Resolves at once while connected; otherwise after the client has reconnected and `prepare` has run. */
    connected: () => connected.promise,
    /** Settles as the operation does. @throws QueueConnectionLostError when the connection is lost before. */
    async untilLost<T>(operation: Promise<T>): Promise<T> {
      const lost = Promise.withResolvers<never>();
      waiting.add(lost.reject);
      try {
        return await Promise.race([operation, lost.promise]);
      } finally {
        waiting.delete(lost.reject);
      }
    },
  };
}
