import { setTimeout as sleep } from 'node:timers/promises';
import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node';
import {
  ackPendingMax,
  pullBytesMax,
  pullExpiresMs,
  pullRetryMs,
  pullSilenceMaxMs,
} from '../../lib/limits.ts';
import { consumerName, type QueueStream } from '../../lib/queue/settings.ts';
import { type Delivered, toDelivered } from './delivered.ts';

/** Who takes the messages. */
export interface Receiver {
  /** Resolves when the receiver can take another pull's worth of messages. */
  room(): Promise<void>;
  receive(message: Delivered): void;
}

/** How a pull ended: by anything that its consumer said or sent, because nobody leads the consumer, or in silence. */
type PullEnd = 'heard' | 'leaderless' | 'silence';

/**
 * Pulls a stream's messages, for ever, `pullBytesMax` at a time. Disposing it ends the pulling; what still arrives is
 * handed back. Where the stream's consumer gives no sign for long, the nats-server that we are connected to may be cut
 * off from its peers: another one is tried.
 *
 * The library's `consume` and `fetch` are not used: bounded by bytes, they stall for two heartbeats, or drop what they
 * have buffered, whenever the next message does not fit into the rest of a pull (ADR 0006).
 */
export function startDelivery(
  connection: NatsConnection,
  stream: QueueStream,
  receiver: Receiver,
): AsyncDisposable {
  const inbox = `_INBOX.weir.${crypto.randomUUID()}`;
  const stopping = new AbortController();
  let pull = Promise.withResolvers<PullEnd>();
  let received = 0;

  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      if (error !== null) return pull.resolve('silence');
      if (isStatus(message, inbox)) {
        if (endsPull(message)) pull.resolve(message.headers?.code === 503 ? 'leaderless' : 'heard');
        return;
      }
      const delivered = toDelivered(message);
      if (stopping.signal.aborted) return delivered.nak(0);
      receiver.receive(delivered);
      received += 1;
      if (received === ackPendingMax) pull.resolve('heard');
    },
  });

  const pullOnce = async (): Promise<PullEnd> => {
    pull = Promise.withResolvers();
    received = 0;
    connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream.name}.${consumerName}`, pullRequest, {
      reply: inbox,
    });
    // The server answers an unfilled pull when it expires, unless it was restarted meanwhile and has forgotten it.
    const timer = setTimeout(() => pull.resolve(received > 0 ? 'heard' : 'silence'), pullExpiresMs + 250);
    const end = await pull.promise;
    clearTimeout(timer);
    return end;
  };

  const pulling = (async () => {
    let heardAtMs = performance.now();
    while (!stopping.signal.aborted) {
      const waitedFromMs = performance.now();
      await receiver.room();
      heardAtMs += performance.now() - waitedFromMs;
      if (stopping.signal.aborted) return;
      const end = await pullOnce();
      // Said at once, and again and again until there is a leader.
      if (end === 'leaderless') await sleep(pullRetryMs, undefined, stopping).catch(() => {});
      if (end === 'heard') heardAtMs = performance.now();
      if (performance.now() - heardAtMs < pullSilenceMaxMs || connection.getServers().length === 1) continue;
      heardAtMs = performance.now();
      await connection.reconnect();
    }
  })();

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      pull.resolve('silence');
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
