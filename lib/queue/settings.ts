import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Config } from '../config.ts';
import { ackPendingMax, ackWaitMs } from '../limits.ts';

/** A stream of the queue. */
export interface QueueStream {
  name: string;
  subject: string;
}

export const firstStream: QueueStream = { name: 'WEIR_EVENTS', subject: 'weir.events' };
const secondStream: QueueStream = { name: 'WEIR_EVENTS_2', subject: 'weir.events_2' };

export const consumerName = 'writer';

/**
 * The streams of the queue: one on a single node, two on three nodes. Raft takes 4 to 9 s to replace a leader that died,
 * and meanwhile a stream takes nothing; the other one, led from another node, does (ADR 0011).
 */
export function queueStreams({ NATS_REPLICAS }: Pick<Config, 'NATS_REPLICAS'>): readonly QueueStream[] {
  return NATS_REPLICAS === 1 ? [firstStream] : [firstStream, secondStream];
}

/** A stream that keeps what was accepted until the writer has stored it (reliability §1). */
export function streamSettings(
  config: Pick<Config, 'QUEUE_BYTES_MAX' | 'NATS_REPLICAS'>,
  stream: QueueStream = firstStream,
) {
  return {
    name: stream.name,
    subjects: [stream.subject],
    storage: StorageType.File,
    // A message leaves when the writer has acknowledged it, and for no other reason.
    retention: RetentionPolicy.Workqueue,
    // A full stream refuses the new message with an error, which is a 503; it never drops an old one.
    discard: DiscardPolicy.New,
    // The limit is for the queue as a whole.
    max_bytes: Math.floor(config.QUEUE_BYTES_MAX / queueStreams(config).length),
    max_age: 0,
    max_msgs: -1,
    max_msg_size: -1,
    deny_delete: true,
    deny_purge: true,
    num_replicas: config.NATS_REPLICAS,
    duplicate_window: nanos(2 * 60_000),
  } satisfies Partial<StreamConfig>;
}

/** The writers' shared consumer. */
export const consumerSettings = {
  durable_name: consumerName,
  deliver_policy: DeliverPolicy.All,
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(ackWaitMs),
  // Never given up: what Postgres refuses goes to quarantine, everything else is a matter of time.
  max_deliver: -1,
  max_ack_pending: ackPendingMax,
} satisfies Partial<ConsumerConfig>;
