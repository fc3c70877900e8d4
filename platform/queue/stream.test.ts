import { jetstreamManager, RetentionPolicy } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { startNats } from '../../test/support/test-servers.ts';
import { parseConfig } from '../config.ts';
import { connectQueue } from './connect.ts';
import { clusterAckPendingMax } from './limits.ts';
import { consumerName, firstStream } from './settings.ts';
import { allowMoreWaiting, ensureStreams } from './stream.ts';

test('the stream is created once, grows with QUEUE_BYTES_MAX, and is rejected when its settings differ', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  const config = parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' });
  const manager = await jetstreamManager(connection);
  await Promise.all([ensureStreams(connection, config), ensureStreams(connection, config)]);
  await ensureStreams(connection, { ...config, QUEUE_BYTES_MAX: 2_000_000 });
  expect((await manager.streams.info(firstStream.name)).config.max_bytes).toBe(2_000_000);
  await allowMoreWaiting(manager);
  await ensureStreams(connection, config);
  const { max_ack_pending } = (await manager.consumers.info(firstStream.name, consumerName)).config;
  expect(max_ack_pending).toBe(clusterAckPendingMax);
  await manager.consumers.update(firstStream.name, consumerName, { max_deliver: 3 });
  await expect(ensureStreams(connection, config)).rejects.toThrow(/consumer writer .*max_deliver must be -1/);
  await manager.streams.delete(firstStream.name);
  const others = { subjects: [firstStream.subject], retention: RetentionPolicy.Workqueue, max_age: 1e9 };
  await manager.streams.add({ name: firstStream.name, ...others });
  await expect(ensureStreams(connection, config)).rejects.toThrow(
    /retention must be "limits".*max_age must be 0/,
  );
});

test('a server that does not fsync every message is rejected, unless NATS_ALLOW_UNSYNCED is set', async () => {
  await using nats = await startNats({ syncInterval: '2m' });
  await using connection = await connectQueue(nats.url, 'test');
  const config = parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' });
  await expect(ensureStreams(connection, config)).rejects.toThrow(/does not fsync every message/);
  await ensureStreams(connection, { ...config, NATS_ALLOW_UNSYNCED: true });
});

test('a server whose fsync setting cannot be read is rejected, unless NATS_ALLOW_UNSYNCED is set', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  const config = parseConfig({ NATS_MONITOR_URL: 'http://127.0.0.1:1', QUEUE_BYTES_MAX: '1000000' });
  await expect(ensureStreams(connection, config)).rejects.toThrow(/NATS_MONITOR_URL/);
  await ensureStreams(connection, { ...config, NATS_ALLOW_UNSYNCED: true });
});
