import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { GroupSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { openLog } from '../../platform/log.ts';
import { readerVersion } from '../../platform/queue/group.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import type { Delivered } from './delivered.ts';
import { startStoreWorkers } from './store-workers.ts';

const pool = { applicationName: 'weir-writer', connectionsMax: 1, statementTimeoutMs: 0 };

test('disposing the writer waits until a message is in quarantine', async () => {
  await using backing = await createDatabase();
  await using sql = openPostgres(backing.url, pool);
  await using other = openPostgres(backing.url, { ...pool, applicationName: 'test' });
  const log = openLog('test', { LOG_LEVEL: 'silent' });
  const writer = startStoreWorkers({ database: openDatabase(sql), log, concurrency: 1 });
  const settled: string[] = [];
  const message: Delivered = {
    data: Buffer.from('\xff not protobuf', 'latin1'),
    position: { stream: 'WEIR_LOG', sequence: 1 },
    deliveries: 1,
    queuedAtMs: Date.now(),
    readTraceparent: () => undefined,
    ack: () => settled.push('ack'),
    nak: () => settled.push('nak'),
    working: () => {},
  };
  await other`BEGIN`;
  await other`LOCK TABLE quarantine`;
  writer.receive(message);
  await until(async () => {
    const [blocked] = await other`
      SELECT FROM pg_locks WHERE NOT granted AND relation = 'quarantine'::regclass`;
    return blocked !== undefined;
  });
  let isDisposed = false;
  const disposal = writer[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await new Promise(setImmediate);
  expect(isDisposed).toBe(false);
  await other`COMMIT`;
  await disposal;
  expect(settled).toEqual(['ack']);
});

test('a message that needs a newer writer is given back, and nothing of it is stored', async () => {
  await using backing = await createDatabase();
  await using sql = openPostgres(backing.url, pool);
  const log = openLog('test', { LOG_LEVEL: 'silent' });
  await using writer = startStoreWorkers({
    database: openDatabase(sql),
    log,
    concurrency: 1,
  });
  const settled: unknown[] = [];
  const minReader = readerVersion + 1;
  const deliver = (deliveries: number) =>
    writer.receive({
      data: toBinary(GroupSchema, create(GroupSchema, { minReader, parts: [{}] })),
      position: { stream: 'WEIR_LOG', sequence: 1 },
      deliveries,
      queuedAtMs: Date.now(),
      readTraceparent: () => undefined,
      ack: () => settled.push('ack'),
      nak: (delayMs) => settled.push(delayMs),
      working: () => {},
    });
  deliver(1);
  deliver(20);
  expect(settled).toEqual([expect.any(Number), expect.any(Number)]);
  expect(settled[0]).toBeLessThan(1_000);
  // The delay grows, so that an old writer beside newer ones does not keep the message for long, nor the
  // queue busy.
  expect(settled[1]).toBeGreaterThan(60_000);
  expect(await sql`SELECT FROM quarantine`).toHaveLength(0);
});
