import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node';
import { ackPendingMax, pullBytesMax, pullExpiresMs } from '../../lib/limits.ts';
import { consumerName, streamName } from '../../lib/queue/settings.ts';
import { type Delivered, toDelivered } from './delivered.ts';

/** Who takes the messages. */
export interface Receiver {
  /** Resolves when the receiver can take another pull's worth of messages. */
  room(): Promise<void>;
  receive(message: Delivered): void;
}

/**
 * Pulls the stream's messages, for ever, `pullBytesMax` at a time. Disposing it ends the pulling; what still arrives
 * is handed back.
 *
 * The library's `consume` and `fetch` are not used: bounded by bytes, they stall for two heartbeats, or drop what they
 * have buffered, whenever the next message does not fit into the rest of a pull (ADR 0006).
 */
export function startDelivery(connection: NatsConnection, receiver: Receiver): AsyncDisposable {
  const inbox = `_INBOX.weir.${crypto.randomUUID()}`;
  let closed = false;
  let pull = Promise.withResolvers<void>();
  let received = 0;

  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      if (error !== null || isStatus(message, inbox)) {
        if (error !== null || endsPull(message)) pull.resolve();
        return;
      }
      const delivered = toDelivered(message);
      if (closed) return delivered.nak(0);
      receiver.receive(delivered);
      received += 1;
      if (received === ackPendingMax) pull.resolve();
    },
  });

  const pulling = (async () => {
    while (!closed) {
      await receiver.room();
      if (closed) return;
      pull = Promise.withResolvers();
      received = 0;
      connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${streamName}.${consumerName}`, pullRequest, {
        reply: inbox,
      });
      // The server answers an unfilled pull when it expires, unless it was restarted meanwhile and has forgotten it.
      const timer = setTimeout(pull.resolve, pullExpiresMs + 250);
      await pull.promise;
      clearTimeout(timer);
    }
  })();

  return {
    async [Symbol.asyncDispose]() {
      closed = true;
      pull.resolve();
      await pulling;
      await subscription.drain();
    },
  };
}

const pullRequest = JSON.stringify({
  batch: ackPendingMax,
  max_bytes: pullBytesMax,
  expires: nanos(pullExpiresMs),
});

/** The server's own words come on the inbox; messages keep the subject they were published on. */
function isStatus(message: Msg, inbox: string): boolean {
  return message.subject === inbox;
}

/** 100 is a heartbeat; everything else (no messages, expired, full, leadership changed, no responders) is the end. */
function endsPull(message: Msg): boolean {
  return message.headers?.code !== 100;
}
