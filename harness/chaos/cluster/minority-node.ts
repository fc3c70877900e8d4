import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { encodeGroup } from '../../../platform/queue/group.ts';
import { queueStreams } from '../../../platform/queue/settings.ts';
import type { System } from '../../system/system.ts';

const publishTimeoutMs = 500;

/**
 * Publishes to every stream through one node, without a proxy, for some time. The message is a group without parts, which
 * the writer would ignore.
 *
 * @throws Error when the node acknowledges a message: a minority must not.
 */
export async function assertNoPubAck(
  { natsUrls }: Pick<System, 'natsUrls'>,
  name: string,
  holdMs: number,
): Promise<void> {
  const url = natsUrls[Number(name.replace('nats-', '')) - 1];
  if (url === undefined) throw new Error(`the system has no ${name}`);
  const endMs = performance.now() + holdMs;
  await using connection = await connectQueue(url, 'weir-chaos');
  const client = jetstream(connection);
  const emptyGroup = encodeGroup([]);
  while (performance.now() < endMs) {
    const acks = await Promise.allSettled(
      queueStreams({ NATS_REPLICAS: 3 }).map(({ subject }) =>
        client.publish(subject, emptyGroup, { timeout: publishTimeoutMs }),
      ),
    );
    const ack = acks.find(({ status }) => status === 'fulfilled');
    if (ack?.status === 'fulfilled') {
      throw new Error(`${name} has no majority and acknowledged ${JSON.stringify(ack.value)}`);
    }
    await sleep(publishTimeoutMs / 5);
  }
}
