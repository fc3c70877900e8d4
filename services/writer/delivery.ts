import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node';
import { type LoopLog, startLoop } from '../../platform/background-loop.ts';
import { consumerName, type QueueStream } from '../../platform/queue/settings.ts';
import { type Delivered, toDelivered } from './delivered.ts';
import { pullBytesMax, pullExpiresMs, pullMessagesMax, pullRetryMs, pullSilenceMaxMs } from './limits.ts';

export interface Receiver {
  /** Resolves when the receiver can take another pull's worth of messages, with about how many. */
  room(): Promise<number>;
  receive(message: Delivered): void;
}

/** A pull ends with a reply or messages, without a leader of the consumer, or without any reply. */
type PullEnd = 'replied' | 'leaderless' | 'silence';

/**
 * Pulls a stream's messages, `pullBytesMax` at a time, until disposed; later messages get a nak. When the
 * consumer has not replied for `pullSilenceMaxMs`, the connection moves to another nats-server: ours may be
 * partitioned. The library's `consume` and `fetch`, bounded by bytes, stall or drop buffered messages when
 * the next message does not fit into a pull (ADR 0003).
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

/** Opens the inbox in which the messages of pulls arrive. */
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
    // The server ends an expired pull, unless it was restarted and has lost it.
    const timer = setTimeout(() => pull.resolve(received > 0 ? 'replied' : 'silence'), pullExpiresMs + 250);
    const end = await pull.promise;
    clearTimeout(timer);
    return end;
  };

  return {
    pullOnce,
    /** Messages that arrive from now on are returned with a nak. */
    stop() {
      isStopping = true;
      pull.resolve('silence');
    },
    drain: () => subscription.drain(),
  };
}

/** The server's status messages have the inbox as subject; queue messages keep theirs. */
function isStatus(message: Msg, inbox: string): boolean {
  return message.subject === inbox;
}

/** 100 is a heartbeat. Expired, full, no messages, leaders or responders: these end the pull. */
function endsPull(message: Msg): boolean {
  return message.headers?.code !== 100;
}
