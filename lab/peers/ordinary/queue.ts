import { AckPolicy, jetstreamManager, RetentionPolicy } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

export const subject = 'ordinary.events';
const names = { stream: 'ORDINARY', consumer: 'store' };

/** Connects to nats-server, and creates the stream and the consumer if they are missing. */
export async function openQueue(url: string) {
  const { host, username, password } = new URL(url);
  const connection = await connect({ servers: host, user: username, pass: decodeURIComponent(password) });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: names.stream,
    subjects: [subject],
    retention: RetentionPolicy.Workqueue,
    max_bytes: 512 * 1024 ** 2,
  });
  await manager.consumers.add(names.stream, {
    durable_name: names.consumer,
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 5_000,
  });
  return { connection, ...names };
}
