import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { parseConfig } from '../../lib/config.ts';
import { connectQueue, payloadBytesMax } from '../../lib/queue/connect.ts';
import { SequenceGuard } from '../../lib/queue/sequence-guard.ts';
import { firstStream } from '../../lib/queue/settings.ts';
import { ensureStreams } from '../../lib/queue/stream.ts';
import { createStreamPublisher } from '../../lib/queue/stream-publisher.ts';
import { startNats } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { startDelivery } from './delivery.ts';

test('the largest message that ingest publishes is delivered, even if the server accepts larger ones', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  await raiseMaxPayload(nats, connection);
  await ensureStreams(
    connection,
    parseConfig({ NATS_URL: nats.url, NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '100000000' }),
  );
  const publish = createStreamPublisher(connection, new SequenceGuard(() => {}), firstStream);
  const payload = Buffer.alloc(payloadBytesMax(connection));
  await publish(payload, 'a');
  const delivered = Promise.withResolvers<number>();
  await using _ = startDelivery(connection, firstStream, {
    room: async () => 10,
    receive(message) {
      message.ack();
      delivered.resolve(message.data.length);
    },
  });
  expect(await delivered.promise).toBe(payload.length);
});

/** Reloads nats-server with a larger max_payload. Clients receive the new value in the INFO of their next connection. */
async function raiseMaxPayload(
  { storeDir, pid }: Awaited<ReturnType<typeof startNats>>,
  connection: NatsConnection,
): Promise<void> {
  const [configFile = ''] = globSync(join(storeDir, '*.conf'));
  const settings = readFileSync(configFile, 'utf8');
  writeFileSync(configFile, settings.replace('max_payload: 8MB', 'max_payload: 32MB'));
  process.kill(pid, 'SIGHUP');
  await until(async () => {
    await connection.reconnect();
    return connection.info?.max_payload === 32 * 1024 ** 2;
  });
}
