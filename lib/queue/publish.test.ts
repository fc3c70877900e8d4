import { jetstreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { startNats } from '../../test/support/backing.ts';
import { parseConfig } from '../config.ts';
import { pubAckTimeoutMs } from '../limits.ts';
import { connectQueue } from './connect.ts';
import { QueueInterruptedError } from './link.ts';
import { createPublish, QueueLossError } from './publish.ts';
import { consumerName, streamName } from './settings.ts';
import { ensureStream } from './stream.ts';

async function openQueue() {
  const nats = await startNats();
  const connection = await connectQueue(nats.url, 'test');
  const config = parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' });
  await ensureStream(connection, config);
  return {
    connection,
    config,
    manager: await jetstreamManager(connection),
    async [Symbol.asyncDispose]() {
      await connection[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
    },
  };
}

test('sequences rise, and a message that was there already has the sequence of the first', async () => {
  await using queue = await openQueue();
  const publish = createPublish(queue.connection);
  const bytes = Buffer.from('x');
  expect([await publish(bytes, 'a'), await publish(bytes, 'b'), await publish(bytes, 'a')]).toEqual([
    1, 2, 1,
  ]);
});

test('a sequence that goes back is an alarm', async () => {
  await using queue = await openQueue();
  const publish = createPublish(queue.connection);
  await publish(Buffer.from('x'), 'a');
  await queue.manager.streams.delete(streamName);
  await ensureStream(queue.connection, queue.config);
  await expect(publish(Buffer.from('x'), 'b')).rejects.toThrow(QueueLossError);
});

test('a publish that is on its way when nats-server dies fails at once, and the next one waits for its return', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  await ensureStream(
    connection,
    parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' }),
  );
  const publish = createPublish(connection);
  await publish(Buffer.from('x'), 'a');
  process.kill(nats.pid, 'SIGSTOP');
  const onItsWay = publish(Buffer.from('x'), 'b');
  const startedMs = performance.now();
  process.kill(nats.pid, 'SIGKILL');
  await expect(onItsWay).rejects.toThrow(QueueInterruptedError);
  await nats.exited;
  const early = publish(Buffer.from('x'), 'c');
  await nats.restart();
  expect(await early).toBeGreaterThan(1);
  expect(performance.now() - startedMs).toBeLessThan(pubAckTimeoutMs);
});

test('the stream is made once, grows when told to, and is refused when it is another', async () => {
  await using queue = await openQueue();
  const { connection, config, manager } = queue;
  await Promise.all([ensureStream(connection, config), ensureStream(connection, config)]);
  await ensureStream(connection, { ...config, QUEUE_BYTES_MAX: 2_000_000 });
  expect((await manager.streams.info(streamName)).config.max_bytes).toBe(2_000_000);
  await manager.consumers.update(streamName, consumerName, { max_deliver: 3 });
  await expect(ensureStream(connection, config)).rejects.toThrow(/consumer writer .*max_deliver must be -1/);
  await manager.streams.delete(streamName);
  await manager.streams.add({ name: streamName, subjects: ['weir.events'], max_age: 1e9 });
  await expect(ensureStream(connection, config)).rejects.toThrow(
    /retention must be "workqueue".*max_age must be 0/,
  );
});

test('a server that does not fsync every message is refused', async () => {
  await using queue = await openQueue();
  const unsynced = { ...queue.config, NATS_MONITOR_URL: 'http://127.0.0.1:1' };
  await expect(ensureStream(queue.connection, unsynced)).rejects.toThrow(/NATS_MONITOR_URL/);
  await ensureStream(queue.connection, { ...unsynced, NATS_ALLOW_UNSYNCED: true });
});
