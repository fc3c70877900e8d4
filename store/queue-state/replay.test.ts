import { jetstream } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { type Config, parseConfig } from '../../platform/config.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { consumerName, firstStream, firstWorkQueue } from '../../platform/queue/settings.ts';
import { ensureReadableStreams, ensureStreams, findStreams } from '../../platform/queue/stream.ts';
import { createDatabase, startNats } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { openPostgres } from '../db/connect.ts';
import { openDatabase } from '../db/database.ts';
import { queueCounts, queuePositions } from '../db/schema.ts';
import { planReplay, startReplay } from './replay.ts';
import { recordStoredPosition } from './stored-positions.ts';
import { readOldestPending, readStreamState, type StreamState } from './stream-state.ts';
import { countQueued, readOldestQueued, readWatermarks } from './watermark.ts';

const hour = 3_600_000;

async function openQueue(resources: AsyncDisposableStack, changes: Record<string, string> = {}) {
  const nats = resources.use(await startNats());
  const connection = resources.use(await connectQueue(nats.url, 'test'));
  const config = parseConfig({
    NATS_MONITOR_URL: nats.monitorUrl,
    QUEUE_BYTES_MAX: '1000000',
    ...changes,
  });
  const client = jetstream(connection);
  const manager = await client.jetstreamManager();
  const publish = async (count: number, subject = firstStream.subject) => {
    for (let sent = 0; sent < count; sent++) await client.publish(subject, Buffer.alloc(1_000));
  };
  const read = async (stream = firstStream): Promise<StreamState> => {
    const state = await readStreamState(manager, stream);
    if (state === undefined) throw new Error('no stream');
    return state;
  };
  /** Acknowledges the next messages, and returns their sequences. */
  const store = async (count: number) => {
    const consumer = await client.consumers.get(firstStream.name, consumerName);
    const sequences: number[] = [];
    for (let taken = 0; taken < count; taken++) {
      const message = await consumer.next({ expires: 2_000 });
      if (message === null) break;
      await message.ackAck();
      sequences.push(message.seq);
    }
    return sequences;
  };
  return { nats, connection, config, manager, publish, read, store };
}

test('messages that are stored stay, do not count as pending, and are purged by sequence; the sequence survives an empty stream and a crash', async () => {
  await using resources = new AsyncDisposableStack();
  const { nats, connection, config, manager, publish, read, store } = await openQueue(resources);
  await ensureStreams(connection, config);
  await publish(5);
  const [watermark] = await readWatermarks(connection);
  expect(watermark).toEqual({ stream: firstStream.name, sequence: 5 });
  expect(await store(2)).toEqual([1, 2]);
  const state = await read();
  expect(state).toMatchObject({ firstSequence: 1, lastSequence: 5, messages: 5, storedUpTo: 2, pending: 3 });
  expect(await countQueued(connection, [{ stream: firstStream.name, sequence: 4 }])).toBe(2);
  const third = await manager.streams.getMessage(firstStream.name, { seq: 3 });
  expect(await readOldestPending(manager, state)).toEqual(third?.time);
  await store(3);
  expect(await read()).toMatchObject({ messages: 5, storedUpTo: 5, pending: 0 });
  expect(await countQueued(connection, [{ stream: firstStream.name, sequence: 5 }])).toBe(0);
  expect(await readOldestQueued(connection)).toBeUndefined();
  await manager.streams.purge(firstStream.name, { seq: 4 });
  expect(await read()).toMatchObject({ firstSequence: 4, messages: 2, pending: 0 });
  await manager.streams.purge(firstStream.name, { seq: 6 });
  expect(await read()).toMatchObject({ lastSequence: 5, messages: 0, storedUpTo: 5, pending: 0 });
  process.kill(nats.pid, 'SIGKILL');
  await nats.exited;
  await nats.restart();
  const isBack = () =>
    read()
      .then(() => true)
      .catch(() => false);
  await until(isBack);
  expect(await read()).toMatchObject({ lastSequence: 5, messages: 0, pending: 0 });
  await publish(1);
  expect(await store(1)).toEqual([6]);
});

test('a replay begins at what the restored database lacks, or five minutes earlier, and names what was purged', async () => {
  await using resources = new AsyncDisposableStack();
  const { connection, config, manager, publish, read, store } = await openQueue(resources);
  const backing = resources.use(await createDatabase());
  const pool = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 10_000 };
  const database = openDatabase(resources.use(openPostgres(backing.url, pool)));
  const planned = async (restoredTo: Date) =>
    (await planReplay(connection, database, restoredTo)).map(({ replay }) => replay);
  await ensureStreams(connection, config);
  await publish(4);
  await store(3);
  await recordStoredPosition(database, await read(), hour);
  await publish(4);
  await store(5);
  const soon = new Date(Date.now() + hour);
  // Message 4 was not stored when the position was kept, whatever the time says.
  expect(await planned(soon)).toEqual([
    { stream: firstStream.name, fromSequence: 4, toSequence: 8, messages: 5, missing: undefined },
  ]);
  expect(await planned(new Date())).toMatchObject([{ fromSequence: 1, messages: 8, missing: undefined }]);
  expect((await read()).pending).toBe(0);
  await startReplay(connection, database, soon);
  // Services that start meanwhile accept the consumer.
  await ensureStreams(connection, config);
  expect((await read()).pending).toBe(5);
  expect(await store(5)).toEqual([4, 5, 6, 7, 8]);

  await manager.streams.purge(firstStream.name, { seq: 7 });
  const [position] = await database.select().from(queuePositions);
  const { firstAt } = await read();
  expect(await planned(soon)).toMatchObject([
    {
      fromSequence: 7,
      messages: 2,
      missing: { fromSequence: 4, toSequence: 6, messages: 3, from: position?.updatedAt, to: firstAt },
    },
  ]);
  // Interrupted and called again, it names the same gap.
  const [replay] = await startReplay(connection, database, soon);
  expect(replay).toMatchObject({ missing: { fromSequence: 4, toSequence: 6 } });
  expect(await startReplay(connection, database, soon)).toEqual([replay]);
  // A writer must not count their events as none.
  expect(await database.select().from(queueCounts)).toMatchObject([
    { afterSequence: 0, storedUpTo: 6, events: null },
  ]);
  // Removed in front of a message that waited, because the stream was crowded.
  await publish(3);
  await manager.streams.deleteMessage(firstStream.name, 10, false);
  expect(await planned(soon)).toMatchObject([{ missing: { fromSequence: 4, toSequence: 10, messages: 4 } }]);
  // Another stream of the same name: its sequences say nothing about what is stored.
  await database.update(queuePositions).set({ createdAt: new Date(0) });
  expect(await planned(new Date())).toMatchObject([
    { fromSequence: 7, missing: { fromSequence: 1, toSequence: 10, messages: 7 } },
  ]);
  await startReplay(connection, database, new Date());
  expect(await startReplay(connection, database, new Date())).toMatchObject([
    { fromSequence: 7, missing: { fromSequence: 1, toSequence: 10, messages: 7 } },
  ]);
});

test('an upgraded installation keeps the streams of 0.1 until REPLAY_WINDOW_HOURS is set, and can go back', async () => {
  await using resources = new AsyncDisposableStack();
  const { connection, config, manager, publish, read } = await openQueue(resources);
  const withHours = (hours: number): Config => ({ ...config, REPLAY_WINDOW_HOURS: hours });
  const used = async (from: Config) => (await ensureStreams(connection, from)).map(({ name }) => name);
  const sizes = async () =>
    Object.fromEntries(
      [...(await findStreams(manager))].map(([{ name }, info]) => [name, info.config.max_bytes]),
    );
  expect(await used(withHours(0))).toEqual([firstWorkQueue.name]);
  expect(await used(config)).toEqual([firstWorkQueue.name]);
  await publish(1, firstWorkQueue.subject);
  expect(await sizes()).toEqual({ [firstWorkQueue.name]: 1_000_000 });
  // A writer does not begin to use other streams: only ingest does.
  await ensureReadableStreams(connection, withHours(24));
  expect(await sizes()).toEqual({ [firstWorkQueue.name]: 1_000_000 });
  expect(await used(withHours(24))).toEqual([firstStream.name]);
  expect(await sizes()).toEqual({ [firstWorkQueue.name]: 500_000, [firstStream.name]: 500_000 });
  expect((await read(firstWorkQueue)).pending).toBe(1);
  expect(await used(config)).toEqual([firstStream.name]);
  expect(await used(withHours(0))).toEqual([firstWorkQueue.name]);
  await manager.streams.delete(firstStream.name);
  await ensureReadableStreams(connection, withHours(0));
  expect(await sizes()).toEqual({ [firstWorkQueue.name]: 1_000_000 });
  await publish(600, firstWorkQueue.subject);
  await expect(used(withHours(24))).rejects.toThrow(/more than half full/);
  expect(await sizes()).toEqual({ [firstWorkQueue.name]: 1_000_000 });
});
