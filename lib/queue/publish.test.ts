import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { runProgram } from '../../scripts/provision/run-program.ts';
import { startNats } from '../../test/support/backing.ts';
import { pauseProcess } from '../../test/support/pause.ts';
import { parseConfig } from '../config.ts';
import { Acknowledged, QueueLossError } from './acknowledged.ts';
import { connectQueue } from './connect.ts';
import { QueueInterruptedError } from './link.ts';
import { createPublish, QueueSilentError } from './publish.ts';
import { consumerName, firstStream } from './settings.ts';
import { ensureStream } from './stream.ts';

const heedless = () => new Acknowledged(() => {});

async function openQueue() {
  const nats = await startNats();
  const connection = await connectQueue(nats.url, 'test');
  const config = parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' });
  await ensureStream(connection, config);
  return {
    nats,
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
  const publish = createPublish(queue.connection, heedless());
  const bytes = Buffer.from('x');
  expect([await publish(bytes, 'a'), await publish(bytes, 'b'), await publish(bytes, 'a')]).toEqual([
    1, 2, 1,
  ]);
});

test('a sequence that goes back is an alarm, and nothing is published after it', async () => {
  await using queue = await openQueue();
  const losses: string[] = [];
  const publish = createPublish(queue.connection, new Acknowledged(({ message }) => losses.push(message)));
  await publish(Buffer.from('x'), 'a');
  await publish(Buffer.from('x'), 'b');
  await queue.manager.streams.delete(firstStream.name);
  await ensureStream(queue.connection, queue.config);
  await expect(publish(Buffer.from('x'), 'c')).rejects.toThrow(QueueLossError);
  await expect(publish(Buffer.from('x'), 'd')).rejects.toThrow(QueueLossError);
  expect((await queue.manager.streams.info(firstStream.name)).state.last_seq).toBe(1);
  expect(losses).toEqual([expect.stringContaining('went back from 2 to 1')]);
});

test('a nats-server that comes back without what it acknowledged is an alarm before anything is published', async () => {
  await using queue = await openQueue();
  const { nats, connection } = queue;
  const alarm = Promise.withResolvers<QueueLossError>();
  const publish = createPublish(connection, new Acknowledged(alarm.resolve));
  for (const id of ['a', 'b', 'c', 'd']) await publish(Buffer.alloc(1_000), id);
  process.kill(nats.pid, 'SIGKILL');
  await nats.exited;
  flipBit(nats.storeDir);
  await nats.restart();
  expect((await alarm.promise).message).toMatch(/went back from 4 to [012]:/);
  await expect(publish(Buffer.from('x'), 'e')).rejects.toThrow(QueueLossError);
});

test('a nats-server that comes back with everything is no alarm', async () => {
  await using queue = await openQueue();
  const { nats, connection } = queue;
  const losses: QueueLossError[] = [];
  const publish = createPublish(connection, new Acknowledged((loss) => losses.push(loss)));
  for (const id of ['a', 'b', 'c']) await publish(Buffer.alloc(1_000), id);
  process.kill(nats.pid, 'SIGKILL');
  await nats.exited;
  await nats.restart();
  expect(await publish(Buffer.from('x'), 'd')).toBe(4);
  expect(losses).toEqual([]);
});

test('a nats-server whose disk fails gives no sign, and that is told from a lost connection', async () => {
  await using queue = await openQueue();
  const publish = createPublish(queue.connection, heedless());
  await publish(Buffer.alloc(1_000), 'a');
  // Its files may not grow any more: the next write fails, as it does on a full disk.
  await runProgram('prlimit', ['--pid', String(queue.nats.pid), '--fsize=1500'], { timeoutMs: 5_000 });
  await expect(publish(Buffer.alloc(1_000), 'b')).rejects.toThrow(QueueSilentError);
});

/** In the middle of what the stream has written. */
function flipBit(storeDir: string): void {
  const [file = ''] = globSync(join(storeDir, 'jetstream/*/streams/*/msgs/*.blk'));
  const bytes = readFileSync(file);
  const middle = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  writeFileSync(file, bytes);
}

test('a publish that is on its way when nats-server dies fails at once, and the next one waits for its return', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  await ensureStream(
    connection,
    parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' }),
  );
  const publish = createPublish(connection, heedless());
  await publish(Buffer.from('x'), 'a');
  await pauseProcess(nats.pid);
  const onItsWay = publish(Buffer.from('x'), 'b');
  process.kill(nats.pid, 'SIGKILL');
  await expect(onItsWay).rejects.toThrow(QueueInterruptedError);
  await nats.exited;
  const early = publish(Buffer.from('x'), 'c');
  await nats.restart();
  expect(await early).toBeGreaterThan(1);
});

test('the stream is made once, grows when told to, and is refused when it is another', async () => {
  await using queue = await openQueue();
  const { connection, config, manager } = queue;
  await Promise.all([ensureStream(connection, config), ensureStream(connection, config)]);
  await ensureStream(connection, { ...config, QUEUE_BYTES_MAX: 2_000_000 });
  expect((await manager.streams.info(firstStream.name)).config.max_bytes).toBe(2_000_000);
  await manager.consumers.update(firstStream.name, consumerName, { max_deliver: 3 });
  await expect(ensureStream(connection, config)).rejects.toThrow(/consumer writer .*max_deliver must be -1/);
  await manager.streams.delete(firstStream.name);
  await manager.streams.add({ name: firstStream.name, subjects: ['weir.events'], max_age: 1e9 });
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
