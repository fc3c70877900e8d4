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
import { ackPendingMax, ackWaitMs } from './limits.ts';

/** One stream of the queue, and the subject that messages are published on. */
export interface QueueStream {
  name: string;
  subject: string;
}

export const firstStream: QueueStream = { name: 'WEIR_EVENTS', subject: 'weir.events' };
export const secondStream: QueueStream = { name: 'WEIR_EVENTS_2', subject: 'weir.events_2' };

export const consumerName = 'writer';

/**
 * The streams of the queue: one on a single node, two on three nodes. While raft replaces a dead leader, for 4 to 9 s, a
 * stream accepts nothing; the other stream, whose leader is on another node, does (ADR 0011).
 */
export function queueStreams({ NATS_REPLICAS }: Pick<Config, 'NATS_REPLICAS'>): readonly QueueStream[] {
  return NATS_REPLICAS === 1 ? [firstStream] : [firstStream, secondStream];
}

/** The settings of a stream that keeps messages until the writer has acknowledged them. */
export function streamSettings(
  config: Pick<Config, 'QUEUE_BYTES_MAX' | 'NATS_REPLICAS'>,
  stream: QueueStream,
) {
  return {
    name: stream.name,
    subjects: [stream.subject],
    storage: StorageType.File,
    // A message is removed when the writer acknowledges it, and for no other reason.
    retention: RetentionPolicy.Workqueue,
    // A full stream rejects the new message, which becomes a 503; it never drops an old one.
    discard: DiscardPolicy.New,
    // QUEUE_BYTES_MAX is for the whole queue.
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

/** The durable consumer of a stream that all writers share. */
export const consumerSettings = {
  durable_name: consumerName,
  deliver_policy: DeliverPolicy.All,
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(ackWaitMs),
  // Redelivered without limit: a message is removed only when its events are stored or in quarantine.
  max_deliver: -1,
  max_ack_pending: ackPendingMax,
} satisfies Partial<ConsumerConfig>;
