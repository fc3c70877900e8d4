import { jetstream } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { runProgram } from '../../launcher/process/run-program.ts';
import { parseConfig } from '../../platform/config.ts';
import { openLog } from '../../platform/log.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { consumerName, firstWorkQueue } from '../../platform/queue/settings.ts';
import { ensureStreams } from '../../platform/queue/stream.ts';
import { startNats } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { clearUndeletedMessages } from './undeleted-messages.ts';

test('messages that were acknowledged while the disk was full are removed from the queue', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  await ensureStreams(
    connection,
    parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000', REPLAY_WINDOW_HOURS: '0' }),
  );
  const client = jetstream(connection);
  const manager = await client.jetstreamManager();
  const publish = () => client.publish(firstWorkQueue.subject, Buffer.alloc(1_000), { timeout: 1_000 });
  const consumer = await client.consumers.get(firstWorkQueue.name, consumerName);
  const acknowledge = async () => {
    const message = await consumer.next({ expires: 1_000 });
    await message?.ackAck();
    return message?.seq;
  };
  const queued = async () => (await manager.streams.info(firstWorkQueue.name)).state.messages;
  for (let messages = 0; messages < 5; messages++) await publish();
  // Its files may not grow any more, so it cannot record removals either.
  await runProgram('prlimit', ['--pid', String(nats.pid), '--fsize=5400'], { timeoutMs: 5_000 });
  await expect(publish()).rejects.toThrow('timeout');
  for (let messages = 0; messages < 3; messages++) await acknowledge();
  await nats.stop();
  await nats.restart();
  await until(async () => (await acknowledge().catch(() => undefined)) === 5);
  expect(await queued()).toBeGreaterThan(0);

  await using _ = clearUndeletedMessages(manager, firstWorkQueue, openLog('test', { LOG_LEVEL: 'silent' }));
  await until(async () => {
    await acknowledge().catch(() => undefined);
    return (await queued()) === 0;
  });
});
