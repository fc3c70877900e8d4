import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { parseConfig } from '../../../platform/config.ts';
import { openLog } from '../../../platform/log.ts';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { answerDiscovery, type ServiceReport } from '../../../platform/queue/service-discovery.ts';
import { consumerName, firstStream, firstWorkQueue } from '../../../platform/queue/settings.ts';
import { ensureStreams, findStreams } from '../../../platform/queue/stream.ts';
import { startNats } from '../../../test/support/test-servers.ts';
import { removeUnusedStreams } from './unused-streams.ts';

test('a kind of streams is removed when it is empty, nothing was published to it for long, and every ingest uses the other kind', async () => {
  await using nats = await startNats();
  await using connection = await connectQueue(nats.url, 'test');
  const config = parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '1000000' });
  const manager = await jetstreamManager(connection);
  const log = openLog('test', { LOG_LEVEL: 'silent' });
  for (const hours of [0, 24]) await ensureStreams(connection, { ...config, REPLAY_WINDOW_HOURS: hours });
  const sizesAfter = async (unusedMs: number) => {
    await removeUnusedStreams({ connection, manager, config, log }, unusedMs);
    const found = await findStreams(manager);
    return Object.fromEntries([...found].map(([{ name }, info]) => [name, info.config.max_bytes]));
  };
  const both = { [firstWorkQueue.name]: 500_000, [firstStream.name]: 500_000 };
  const report: ServiceReport = {
    service: 'ingest',
    host: 'one',
    pid: 1,
    version: '',
    schema: '',
    nowMs: 0,
    metricsUrl: '',
    queueStreams: [firstStream.name],
  };
  answerDiscovery(connection, () => ({ ...report, service: 'writer' }));
  // Without an ingest it is not known which ones are used.
  expect(await sizesAfter(0)).toEqual(both);
  answerDiscovery(connection, () => report);
  const older = await connectQueue(nats.url, 'test');
  // An ingest of 0.1 publishes to the work queue and does not say so.
  answerDiscovery(older, () => ({ ...report, pid: 2, queueStreams: undefined }));
  expect(await sizesAfter(0)).toEqual(both);
  await older.close();
  expect(await sizesAfter(60_000)).toEqual(both);
  const client = jetstream(connection);
  await client.publish(firstWorkQueue.subject, 'x');
  expect(await sizesAfter(0)).toEqual(both);
  const consumer = await client.consumers.get(firstWorkQueue.name, consumerName);
  await (await consumer.next({ expires: 5_000 }))?.ackAck();
  expect(await sizesAfter(0)).toEqual({ [firstStream.name]: 1_000_000 });
});
