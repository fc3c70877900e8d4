import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { startLoop } from '../../../platform/background-loop.ts';
import type { Logger } from '../../../platform/log.ts';
import { retryUntilAvailable } from '../../../platform/queue/availability.ts';
import type { QueueStream } from '../../../platform/queue/settings.ts';
import { findOrAddConsumer, findStreams, type QueueConfig } from '../../../platform/queue/stream.ts';
import type { OwnSpans } from '../../../platform/tracing/own-spans.ts';
import { parseTraceparent } from '../../../platform/tracing/traceparent.ts';
import type { Database } from '../../../store/db/database.ts';
import type { WindowLimits } from '../../../store/queue-state/window-limits.ts';
import type { Delivered } from '../delivered.ts';
import { type Receiver, startDelivery } from '../delivery.ts';
import { streamPollMs, unusedPollMs } from '../limits.ts';
import { registerStream } from '../metrics.ts';
import { clearUndeletedMessages } from '../undeleted-messages.ts';
import { keepWindow } from './purge-loop.ts';
import { removeUnusedStreams } from './unused-streams.ts';

export interface FollowDependencies {
  connection: NatsConnection;
  manager: JetStreamManager;
  database: Database;
  receiver: Receiver;
  /** Undefined when nobody collects Weir's own spans. */
  ownSpans: OwnSpans | undefined;
  config: QueueConfig;
  limits: WindowLimits;
  log: Logger;
}

/** Delivers messages of all streams, also of later ones. Resolves when the existing ones are delivered. */
export async function followStreams(dependencies: FollowDependencies): Promise<AsyncDisposable> {
  const { connection, manager, log } = dependencies;
  const followed = new Map<string, AsyncDisposable>();
  const update = async (signal?: AbortSignal) => {
    const streams = [...(await findStreams(manager)).keys()];
    for (const [name, stream] of followed) {
      if (streams.some((one) => one.name === name)) continue;
      followed.delete(name);
      log.info({ stream: name }, 'a stream of the queue was removed');
      await stream[Symbol.asyncDispose]();
    }
    for (const stream of streams) {
      if (followed.has(stream.name) || signal?.aborted) continue;
      await findOrAddConsumer(manager, stream);
      followed.set(stream.name, followStream(dependencies, stream));
      log.info({ stream: stream.name }, 'reading a stream of the queue');
    }
  };
  // A stream that was just created in a cluster has no leader yet.
  await retryUntilAvailable(connection, () => update());
  let checkedAtMs = performance.now();
  const removeUnused = async () => {
    if (performance.now() - checkedAtMs < unusedPollMs) return;
    checkedAtMs = performance.now();
    await removeUnusedStreams(dependencies);
  };
  const run = async (signal: AbortSignal) => {
    await removeUnused();
    await update(signal);
  };
  const failure = 'the streams of the queue were not listed';
  const loop = startLoop({ run, intervalMs: streamPollMs, delayMs: streamPollMs, failure }, log);
  return {
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      await Promise.all(followed.values().map((stream) => stream[Symbol.asyncDispose]()));
    },
  };
}

function followStream(
  { connection, manager, database, receiver, ownSpans, limits, log }: FollowDependencies,
  stream: QueueStream,
): AsyncDisposable {
  registerStream(stream.name);
  const follow = (receive: Receiver['receive']): Receiver => ({
    room: () => receiver.room(),
    receive: ownSpans === undefined ? receive : (message) => receive(withSpan(message, ownSpans)),
  });
  const resources = new AsyncDisposableStack();
  if (!stream.keepsStored) {
    resources.use(startDelivery({ connection, log }, stream, follow(receiver.receive)));
    resources.use(clearUndeletedMessages(manager, stream, log));
    return resources;
  }
  const window = resources.use(keepWindow({ manager, database, stream, limits, log }));
  resources.use(
    startDelivery(
      { connection, log },
      stream,
      follow((message) => receiver.receive(window.watch(message))),
    ),
  );
  return resources;
}

/** Adds a span below a sampled `traceparent`, from delivery until the message is stored or given back. */
function withSpan(message: Delivered, spans: OwnSpans): Delivered {
  const parent = parseTraceparent(message.readTraceparent());
  if (parent === undefined || !parent.isSampled) return message;
  const span = spans.start('store', parent, 'consumer');
  const { deliveries, data } = message;
  const end = (hasFailed: boolean) =>
    span.end({ 'weir.bytes': data.length, 'weir.deliveries': deliveries }, hasFailed);
  return {
    ...message,
    ack: () => {
      message.ack();
      end(false);
    },
    nak: (delayMs) => {
      message.nak(delayMs);
      end(true);
    },
  };
}
