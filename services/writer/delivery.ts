import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node';
import { type LoopLog, startLoop } from '../../platform/background-loop.ts';
import { consumerName, type QueueStream } from '../../platform/queue/settings.ts';
import { type Delivered, toDelivered } from './delivered.ts';
import { pullBytesMax, pullExpiresMs, pullMessagesMax, pullRetryMs, pullSilenceMaxMs } from './limits.ts';

/** Receives the delivered messages. */
export interface Receiver {
  /** Resolves when the receiver can take another pull's worth of messages, with about how many. */
  room(): Promise<number>;
  receive(message: Delivered): void;
}

/**
 * How a pull ended: with a reply or messages from the consumer, because the consumer has no leader, or
 * without any reply.
 */
type PullEnd = 'replied' | 'leaderless' | 'silence';

/**
 * Pulls a stream's messages, `pullBytesMax` at a time, until it is disposed; messages that arrive after that
 * are returned with a nak. When the consumer has not replied for `pullSilenceMaxMs`, the nats-server of our
 * connection may be partitioned from its peers: the connection moves to another one.
 *
 * The library's `consume` and `fetch` are not used: when bounded by bytes, they stall for two heartbeats, or
 * drop buffered messages, whenever the next message does not fit into the rest of a pull (ADR 0003).
 */
export function startDelivery(
  { connection, log }: { connection: NatsConnection; log: LoopLog },
  stream: QueueStream,
  receiver: Receiver,
): AsyncDisposable {
  const pulls = openPulls(connection, stream, receiver);
  let repliedAtMs = performance.now();
  const run = async (signal: AbortSignal): Promise<number> => {
    const waitedFromMs = performance.now();
    const messages = await receiver.room();
    repliedAtMs += performance.now() - waitedFromMs;
    if (signal.aborted) return 0;
    const end = await pulls.pullOnce(messages);
    if (end === 'replied') repliedAtMs = performance.now();
    const isSilent = performance.now() - repliedAtMs >= pullSilenceMaxMs;
    if (isSilent && connection.getServers().length > 1) {
      repliedAtMs = performance.now();
      await connection.reconnect();
    }
    // Without a leader the server replies at once: delay the next pull.
    return end === 'leaderless' ? pullRetryMs : 0;
  };
  const pulling = startLoop(
    {
      run,
      intervalMs: (pauseMs) => pauseMs,
      retryMs: pullRetryMs,
      failure: `messages of ${stream.name} were not pulled; trying again`,
      interrupt: pulls.stop,
    },
    log,
  );

  return {
    async [Symbol.asyncDispose]() {
      await pulling[Symbol.asyncDispose]();
      await pulls.drain();
    },
  };
}

/** One pull at a time, and the inbox that its messages arrive in. */
function openPulls(connection: NatsConnection, stream: QueueStream, receiver: Receiver) {
  const inbox = `_INBOX.weir.${crypto.randomUUID()}`;
  let isStopping = false;
  let pull = Promise.withResolvers<PullEnd>();
  let received = 0;
  let wanted = 0;

  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      if (error !== null) return pull.resolve('silence');
      if (isStatus(message, inbox)) {
        if (endsPull(message)) pull.resolve(message.headers?.code === 503 ? 'leaderless' : 'replied');
        return;
      }
      const delivered = toDelivered(message);
      if (isStopping) return delivered.nak(0);
      receiver.receive(delivered);
      received += 1;
      if (received === wanted) pull.resolve('replied');
    },
  });

  const pullOnce = async (messages: number): Promise<PullEnd> => {
    pull = Promise.withResolvers();
    received = 0;
    wanted = Math.min(pullMessagesMax, Math.ceil(messages));
    connection.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream.name}.${consumerName}`,
      JSON.stringify({ batch: wanted, max_bytes: pullBytesMax, expires: nanos(pullExpiresMs) }),
      { reply: inbox },
    );
    // The server ends a pull when it expires. A server that was restarted has lost the pull: end it with this
    // timer.
    const timer = setTimeout(() => pull.resolve(received > 0 ? 'replied' : 'silence'), pullExpiresMs + 250);
    const end = await pull.promise;
    clearTimeout(timer);
    return end;
  };

  return {
    pullOnce,
    /** Ends the present pull; messages that arrive from now on are returned with a nak. */
    stop() {
      isStopping = true;
      pull.resolve('silence');
    },
    drain: () => subscription.drain(),
  };
}

/**
 * Status messages of the server have the inbox as subject; queue messages keep the subject that they were
 * published on.
 */
function isStatus(message: Msg, inbox: string): boolean {
  return message.subject === inbox;
}

/**
 * 100 is a heartbeat; every other status (no messages, expired, full, leadership changed, no responders) ends
 * the pull.
 */
function endsPull(message: Msg): boolean {
  return message.headers?.code !== 100;
}
