import { defineCounter, defineGauge, defineHistogram } from '../metrics/define.ts';
import { secondsBuckets } from '../metrics/limits.ts';

const pubAcks = defineHistogram({
  name: 'weir_queue_puback_duration_seconds',
  help: 'Time from publishing a message until nats-server has it on disk.',
  labelNames: ['stream'],
  buckets: secondsBuckets,
});
const failures = defineCounter({
  name: 'weir_queue_publish_failures_total',
  help: 'Messages without a PubAck.',
  labelNames: ['stream', 'reason'],
});
const losses = defineGauge({
  name: 'weir_queue_loss',
  help: '1 when the stream lost messages that it had acknowledged: nothing is accepted until a restart.',
  labelNames: ['stream'],
});

/** Bound by registerStream, before the first message. */
const pubAcksOf = new Map<string, { observe(seconds: number): void }>();

/** Values of the label `reason`, by the name of the error. Others are `rejected` by nats-server. */
const reasons = {
  PubAckTimeoutError: 'timeout',
  QueueConnectionLostError: 'connection_lost',
  QueueLossError: 'loss',
} as const;

/** @throws what `publish` throws. */
export async function measurePublish<T>(stream: string, publish: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    const result = await publish();
    (pubAcksOf.get(stream) ?? pubAcks.labels({ stream })).observe((performance.now() - startedMs) / 1_000);
    return result;
  } catch (error) {
    failures.inc({ stream, reason: reasonOf(error) });
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  return isKnown(name) ? reasons[name] : 'rejected';
}

function isKnown(name: string): name is keyof typeof reasons {
  return Object.hasOwn(reasons, name);
}

/** Shows a stream's metrics before its first message: rate() misses the first increment of a new counter. */
export function registerStream(stream: string): void {
  setQueueLoss(stream, false);
  pubAcksOf.set(stream, pubAcks.labels({ stream }));
  for (const reason of [...Object.values(reasons), 'rejected']) failures.inc({ stream, reason }, 0);
}

export function setQueueLoss(stream: string, isLost: boolean): void {
  losses.set({ stream }, Number(isLost));
}
