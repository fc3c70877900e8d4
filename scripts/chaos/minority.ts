import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { connectQueue } from '../../lib/queue/connect.ts';
import { encodeGroup } from '../../lib/queue/group.ts';
import { queueStreams } from '../../lib/queue/settings.ts';
import type { System } from './system.ts';

const publishTimeoutMs = 500;

/**
 * Publishes to every stream by way of one node, past the proxies, for some time. What it publishes is a group of no
 * parts: the writer takes it for nothing, should it ever reach one.
 *
 * @throws Error when the node confirms anything: it stands for a minority.
 */
export async function publishesNothing(
  { natsUrls }: Pick<System, 'natsUrls'>,
  name: string,
  holdMs: number,
): Promise<void> {
  const url = natsUrls[Number(name.replace('nats-', '')) - 1];
  if (url === undefined) throw new Error(`there is no ${name}`);
  const endMs = performance.now() + holdMs;
  await using connection = await connectQueue(url, 'weir-chaos');
  const client = jetstream(connection);
  const nothing = encodeGroup([]);
  while (performance.now() < endMs) {
    const acks = await Promise.allSettled(
      queueStreams({ NATS_REPLICAS: 3 }).map(({ subject }) =>
        client.publish(subject, nothing, { timeout: publishTimeoutMs }),
      ),
    );
    const confirmed = acks.find((ack) => ack.status === 'fulfilled');
    if (confirmed) throw new Error(`${name} stands alone and confirms ${JSON.stringify(confirmed.value)}`);
    await sleep(publishTimeoutMs / 5);
  }
}
