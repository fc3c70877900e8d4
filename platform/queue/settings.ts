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
import { ackPendingMax, ackWaitMs, clusterAckPendingMax } from './limits.ts';

export interface QueueStream {
  readonly name: string;
  readonly subject: string;
  /** Whether stored messages stay, for the replay window (ADR 31), or an acknowledgement removes them. */
  readonly keepsStored: boolean;
}

export const firstStream: QueueStream = { name: 'WEIR_LOG', subject: 'weir.log', keepsStored: true };
export const secondStream: QueueStream = { name: 'WEIR_LOG_2', subject: 'weir.log_2', keepsStored: true };

/** The streams of Weir 0.1, which has no replay window. The retention of a stream cannot be changed. */
export const firstWorkQueue: QueueStream = {
  name: 'WEIR_EVENTS',
  subject: 'weir.events',
  keepsStored: false,
};
const secondWorkQueue: QueueStream = { name: 'WEIR_EVENTS_2', subject: 'weir.events_2', keepsStored: false };

export const allStreams: readonly QueueStream[] = [
  firstWorkQueue,
  secondWorkQueue,
  firstStream,
  secondStream,
];

export const consumerName = 'writer';

/**
 * The streams of a kind, one on a single node, two on three nodes: while raft replaces a stream's dead
 * leader, for 4 to 9 s, the other stream, led by another node, accepts (ADR 0011).
 */
export function queueStreams(
  { NATS_REPLICAS }: Pick<Config, 'NATS_REPLICAS'>,
  keepsStored = true,
): readonly QueueStream[] {
  const streams = allStreams.filter((stream) => stream.keepsStored === keepsStored);
  return NATS_REPLICAS === 1 ? streams.slice(0, 1) : streams;
}

/**
 * Keeps messages until the writer has acknowledged them, and for the replay window.
 * @param kinds the number of kinds of streams that exist: they share QUEUE_BYTES_MAX.
 */
export function streamSettings(
  config: Pick<Config, 'QUEUE_BYTES_MAX' | 'NATS_REPLICAS'>,
  stream: QueueStream,
  kinds = 1,
) {
  return {
    name: stream.name,
    subjects: [stream.subject],
    storage: StorageType.File,
    // Only the writer's acknowledgement, or its purge of the replay window, removes a message.
    retention: stream.keepsStored ? RetentionPolicy.Limits : RetentionPolicy.Workqueue,
    // A full stream rejects the new message, which becomes a 503; it never drops an old one.
    discard: DiscardPolicy.New,
    // QUEUE_BYTES_MAX is for the whole queue.
    max_bytes: Math.floor(config.QUEUE_BYTES_MAX / queueStreams(config).length / kinds),
    // An age would also remove messages that are not stored yet.
    max_age: 0,
    max_msgs: -1,
    max_msg_size: -1,
    deny_delete: !stream.keepsStored,
    deny_purge: !stream.keepsStored,
    num_replicas: config.NATS_REPLICAS,
    duplicate_window: nanos(2 * 60_000),
  } satisfies Partial<StreamConfig>;
}

/** Settings of the durable consumer that all writers share. A replay makes it start at a sequence. */
const consumerSettings = {
  durable_name: consumerName,
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(ackWaitMs),
  // Redelivered without limit: a message is acknowledged only when its events are stored or in quarantine.
  max_deliver: -1,
  max_ack_pending: ackPendingMax,
} satisfies Partial<ConsumerConfig>;

/** A consumer that starts at the first message, or at a sequence. */
export function consumerFrom(sequence?: number): Partial<ConsumerConfig> {
  return sequence === undefined
    ? { ...consumerSettings, deliver_policy: DeliverPolicy.All }
    : { ...consumerSettings, deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: sequence };
}

/** The same for an existing consumer, whose writers may have raised `max_ack_pending` for a Citus cluster. */
export function consumerSettingsOf({ max_ack_pending }: ConsumerConfig): typeof consumerSettings {
  return max_ack_pending === clusterAckPendingMax
    ? { ...consumerSettings, max_ack_pending }
    : consumerSettings;
}
