import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { pauseTree } from '../../harness/system/process-tree.ts';
import { runProgram } from '../../launcher/process/run-program.ts';
import { startNats } from '../../test/support/test-servers.ts';
import { parseConfig } from '../config.ts';
import { connectQueue } from './connect.ts';
import { monitorConnection, QueueConnectionLostError } from './connection-monitor.ts';
import { QueueLossError, SequenceGuard } from './sequence-guard.ts';
import { firstStream, type QueueStream, secondStream, streamSettings } from './settings.ts';
import { ensureStreams } from './stream.ts';
import { createStreamPublisher, PubAckTimeoutError } from './stream-publisher.ts';

const newGuard = () => new SequenceGuard(() => {});

async function openQueue() {
  const nats = await startNats();
  const connection = await connectQueue(nats.url, 'test');
  const config = parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' });
  await ensureStreams(connection, config);
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

test('sequences increase, and a duplicate gets the sequence of the first message with its id', async () => {
  await using queue = await openQueue();
  const publish = createStreamPublisher(queue.connection, newGuard(), firstStream);
  const bytes = Buffer.from('x');
  expect([await publish(bytes, 'a'), await publish(bytes, 'b'), await publish(bytes, 'a')]).toEqual([
    1, 2, 1,
  ]);
});

test('nothing of a publish is kept as long as the connection', async () => {
  await using queue = await openQueue();
  const monitor = monitorConnection(queue.connection, async () => {});
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const measure = async (operations: number) => {
    for (let n = 0; n < operations; n++) await monitor.untilLost(Promise.resolve());
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await measure(1_000);
  // A race with a promise of the loss kept 250 bytes of each.
  expect((await measure(100_000)) - before).toBeLessThan(8_000_000);
});

test('a sequence that goes back is a loss, and nothing is published after it', async () => {
  await using queue = await openQueue();
  const losses: string[] = [];
  const publish = createStreamPublisher(
    queue.connection,
    new SequenceGuard(({ message }) => losses.push(message)),
    firstStream,
  );
  await publish(Buffer.from('x'), 'a');
  await publish(Buffer.from('x'), 'b');
  await queue.manager.streams.delete(firstStream.name);
  await ensureStreams(queue.connection, queue.config);
  await expect(publish(Buffer.from('x'), 'c')).rejects.toThrow(QueueLossError);
  await expect(publish(Buffer.from('x'), 'd')).rejects.toThrow(QueueLossError);
  expect((await queue.manager.streams.info(firstStream.name)).state.last_seq).toBe(1);
  expect(losses).toEqual([expect.stringContaining('went back from 2 to 1')]);
});

test('a nats-server that restarts without acknowledged messages is reported as a loss before the next publish', async () => {
  await using queue = await openQueue();
  const { nats, connection } = queue;
  const alarm = Promise.withResolvers<QueueLossError>();
  const publish = createStreamPublisher(connection, new SequenceGuard(alarm.resolve), firstStream);
  for (const id of ['a', 'b', 'c', 'd']) await publish(Buffer.alloc(1_000), id);
  process.kill(nats.pid, 'SIGKILL');
  await nats.exited;
  flipBit(nats.storeDir);
  await nats.restart();
  expect((await alarm.promise).message).toMatch(/went back from 4 to [012]:/);
  await expect(publish(Buffer.from('x'), 'e')).rejects.toThrow(QueueLossError);
});

test('a nats-server that restarts with every message is not a loss', async () => {
  await using queue = await openQueue();
  const { nats, connection } = queue;
  const losses: QueueLossError[] = [];
  const publish = createStreamPublisher(
    connection,
    new SequenceGuard((loss) => losses.push(loss)),
    firstStream,
  );
  for (const id of ['a', 'b', 'c']) await publish(Buffer.alloc(1_000), id);
  process.kill(nats.pid, 'SIGKILL');
  await nats.exited;
  await nats.restart();
  expect(await publish(Buffer.from('x'), 'd')).toBe(4);
  expect(losses).toEqual([]);
});

/** A queue with a second stream, after publishing this many messages to each. */
async function openTwoStreams(counts: { first: number; second: number }) {
  const queue = await openQueue();
  await queue.manager.streams.add({ ...streamSettings(queue.config, secondStream) });
  const losses: string[] = [];
  const alarm = Promise.withResolvers<QueueLossError>();
  const raise = (loss: QueueLossError) => {
    losses.push(loss.message);
    alarm.resolve(loss);
  };
  const open = (stream: QueueStream) =>
    createStreamPublisher(queue.connection, new SequenceGuard(raise), stream);
  const publish = { first: open(firstStream), second: open(secondStream) };
  for (let i = 0; i < counts.first; i++) await publish.first(Buffer.alloc(1_000), `first-${i}`);
  for (let i = 0; i < counts.second; i++) await publish.second(Buffer.alloc(1_000), `second-${i}`);
  const restart = async (whileDown: () => void) => {
    process.kill(queue.nats.pid, 'SIGKILL');
    await queue.nats.exited;
    whileDown();
    await queue.nats.restart();
  };
  return { ...queue, publish, losses, alarm: alarm.promise, restart };
}

test('the second stream is compared with its own last sequence, not with that of the first, which is lower', async () => {
  await using queue = await openTwoStreams({ first: 1, second: 4 });
  await queue.restart(() => {});
  expect(await queue.publish.second(Buffer.from('x'), 'more')).toBe(5);
  expect(queue.losses).toEqual([]);
});

test('a second stream that lost messages is a loss although the first one has a higher sequence', async () => {
  await using queue = await openTwoStreams({ first: 9, second: 4 });
  await queue.restart(() => flipBit(queue.nats.storeDir, secondStream));
  expect((await queue.alarm).message).toMatch(/^the stream went back from 4 to [012]:/);
  await expect(queue.publish.second(Buffer.from('x'), 'more')).rejects.toThrow(QueueLossError);
  expect(queue.losses).toHaveLength(1);
  expect((await queue.manager.streams.info(secondStream.name)).state.last_seq).toBeLessThan(4);
});

test('a nats-server whose disk fails sends no PubAck, which is a time-out and not a lost connection', async () => {
  await using queue = await openQueue();
  const publish = createStreamPublisher(queue.connection, newGuard(), firstStream);
  await publish(Buffer.alloc(1_000), 'a');
  // Its files cannot grow any more: the next write fails, as on a full disk.
  await runProgram('prlimit', ['--pid', String(queue.nats.pid), '--fsize=1500'], { timeoutMs: 5_000 });
  await expect(publish(Buffer.alloc(1_000), 'b')).rejects.toThrow(PubAckTimeoutError);
});

/** Flips a bit in the middle of a stream's file. */
function flipBit(storeDir: string, { name } = firstStream): void {
  const [file = ''] = globSync(join(storeDir, `jetstream/*/streams/${name}/msgs/*.blk`));
  const bytes = readFileSync(file);
  const middle = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  writeFileSync(file, bytes);
}

test('a publish in flight when nats-server dies fails at once, and the next one waits for the restart', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  await ensureStreams(
    connection,
    parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' }),
  );
  const publish = createStreamPublisher(connection, newGuard(), firstStream);
  await publish(Buffer.from('x'), 'a');
  await pauseTree(nats.pid);
  const inFlight = publish(Buffer.from('x'), 'b');
  process.kill(nats.pid, 'SIGKILL');
  await expect(inFlight).rejects.toThrow(QueueConnectionLostError);
  await nats.exited;
  const early = publish(Buffer.from('x'), 'c');
  await nats.restart();
  expect(await early).toBeGreaterThan(1);
});
