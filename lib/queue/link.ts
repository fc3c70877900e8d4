import type { NatsConnection } from '@nats-io/transport-node';

/** The connection was lost while a message was on its way: nobody will tell any more whether it arrived. */
export class QueueInterruptedError extends Error {
  override name = 'QueueInterruptedError';
}

/** What the connection to nats-server is doing. */
export interface Link {
  /** Resolves when there is a connection: at once, or when the client has found its way back and all is prepared. */
  connected(): Promise<void>;
  /** Rejects with QueueInterruptedError at the next loss of the connection. */
  interrupted(): Promise<never>;
}

/**
 * Follows a connection for as long as it is open.
 *
 * @param prepare what is to be done after each reconnect before the connection is used. It must not reject.
 */
export function watchLink(connection: NatsConnection, prepare: () => Promise<void>): Link {
  let connected = Promise.withResolvers<void>();
  let interrupted = unheardRejection();
  connected.resolve();
  const watch = async () => {
    for await (const { type } of connection.status()) {
      if (type === 'reconnect') void prepare().then(connected.resolve);
      if (type !== 'disconnect') continue;
      connected = Promise.withResolvers();
      interrupted.reject(
        new QueueInterruptedError('the connection to nats-server was lost before the PubAck'),
      );
      interrupted = unheardRejection();
    }
  };
  void watch();
  return { connected: () => connected.promise, interrupted: () => interrupted.promise };
}

/** A rejection that is no error when nobody waits for it. */
function unheardRejection(): PromiseWithResolvers<never> {
  const resolvers = Promise.withResolvers<never>();
  resolvers.promise.catch(() => {});
  return resolvers;
}
