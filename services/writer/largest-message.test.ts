import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { parseConfig } from '../../platform/config.ts';
import { openLog } from '../../platform/log.ts';
import { connectQueue, payloadBytesMax } from '../../platform/queue/connect.ts';
import { SequenceGuard } from '../../platform/queue/sequence-guard.ts';
import { firstStream } from '../../platform/queue/settings.ts';
import { ensureStreams } from '../../platform/queue/stream.ts';
import { createStreamPublisher } from '../../platform/queue/stream-publisher.ts';
import { startNats } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { startDelivery } from './delivery.ts';

test('the largest message that ingest publishes is delivered, even if the server accepts larger ones', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  await setMaxPayload(nats, connection, 32);
  await ensureStreams(
    connection,
    parseConfig({ NATS_URL: nats.url, NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '100000000' }),
  );
  const publish = createStreamPublisher(connection, new SequenceGuard(() => {}), firstStream);
  const payload = Buffer.alloc(payloadBytesMax(connection));
  await publish(payload, 'a');
  const delivered = Promise.withResolvers<number>();
  const log = openLog('test', { LOG_LEVEL: 'silent' });
  await using _ = startDelivery({ connection, log }, firstStream, {
    room: async () => 10,
    receive(message) {
      message.ack();
      delivered.resolve(message.data.length);
    },
  });
  expect(await delivered.promise).toBe(payload.length);
});

test('a server that accepts too little for one request is refused, and no connection to it is left open', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  await setMaxPayload(nats, connection, 1);
  await expect(connectQueue(nats.url, 'refused')).rejects.toThrow(/Set max_payload: 8MB/);
  await until(async () => {
    const connections = await (await fetch(`${nats.monitorUrl}/connz`)).json();
    return (connections as { num_connections: number }).num_connections === 1;
  });
});

/**
 * Reloads nats-server with another max_payload. Clients receive the new value in the INFO of their next
 * connection.
 */
async function setMaxPayload(
  { storeDir, pid }: Awaited<ReturnType<typeof startNats>>,
  connection: NatsConnection,
  megabytes: number,
): Promise<void> {
  const [configFile = ''] = globSync(join(storeDir, '*.conf'));
  const settings = readFileSync(configFile, 'utf8');
  writeFileSync(configFile, settings.replace('max_payload: 8MB', `max_payload: ${megabytes}MB`));
  process.kill(pid, 'SIGHUP');
  await until(async () => {
    // A connection that is still reconnecting at the end of the test could not be drained.
    const reconnected = nextReconnect(connection);
    await connection.reconnect();
    await reconnected;
    return connection.info?.max_payload === megabytes * 1024 ** 2;
  });
}

async function nextReconnect(connection: NatsConnection): Promise<void> {
  for await (const { type } of connection.status()) if (type === 'reconnect') return;
}
