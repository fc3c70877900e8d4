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

export const streamName = 'WEIR_EVENTS';
export const streamSubject = 'weir.events';
export const consumerName = 'writer';

/** The stream that keeps what was accepted until the writer has stored it (reliability §1). */
export function streamSettings(config: Pick<Config, 'QUEUE_BYTES_MAX' | 'NATS_REPLICAS'>) {
  return {
    name: streamName,
    subjects: [streamSubject],
    storage: StorageType.File,
    // A message leaves when the writer has acknowledged it, and for no other reason.
    retention: RetentionPolicy.Workqueue,
    // A full stream refuses the new message with an error, which is a 503; it never drops an old one.
    discard: DiscardPolicy.New,
    max_bytes: config.QUEUE_BYTES_MAX,
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
