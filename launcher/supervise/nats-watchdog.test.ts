import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { expect, inject, test } from 'vitest';
import { pauseTree } from '../../harness/system/process-tree.ts';
import { parseConfig } from '../../platform/config.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { readNatsHealth } from '../../platform/queue/nats-health.ts';
import { firstStream } from '../../platform/queue/settings.ts';
import { ensureStreams } from '../../platform/queue/stream.ts';
import { startNats } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { runProgram } from '../process/run-program.ts';
import { watchNats } from './nats-watchdog.ts';

async function openQueue() {
  const nats = await startNats();
  const connection = await connectQueue(nats.url, 'test');
  await ensureStreams(
    connection,
    parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: '100000000' }),
  );
  const client = jetstream(connection);
  return {
    nats,
    publish: () => client.publish(firstStream.subject, Buffer.alloc(100_000), { timeout: 1_000 }),
    async [Symbol.asyncDispose]() {
      await connection[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
    },
  };
}

test('after a failed write nats-server is stopped once the disk is writable, and accepts after its restart', async () => {
  await using queue = await openQueue();
  const { nats, publish } = queue;
  await publish();
  // Limits the size of its files: the next write fails as on a full disk.
  await runProgram('prlimit', ['--pid', String(nats.pid), '--fsize=150000'], { timeoutMs: 5_000 });
  await expect(publish()).rejects.toThrow('timeout');
  expect((await readNatsHealth(nats.monitorUrl, 5_000)).writeError).toMatch(/write error/);

  const storeDir = join(mkdtempSync(join(inject('runDirectory'), 'disk-')), 'away');
  const reports: string[] = [];
  const watched = watchNats({ ...nats, storeDir }, (line) => reports.push(line));
  await until(() => reports.length === 1);
  expect(reports[0]).toMatch(/^nats-server accepts no events: .*file too large/);
  await expect(publish()).rejects.toThrow('timeout');
  expect(reports).toHaveLength(1);
  mkdirSync(storeDir);
  await watched;
  await nats.exited;
  expect(reports.slice(1)).toEqual([expect.stringContaining('the disk is writable again')]);
  expect(existsSync(join(storeDir, 'write-probe'))).toBe(false);
  await nats.restart();
  await until(async () => (await publish().catch(() => undefined)) !== undefined);
});

test('a paused nats-server is not stopped', async () => {
  await using queue = await openQueue();
  const { nats, publish } = queue;
  const reports: string[] = [];
  void watchNats({ ...nats, storeDir: inject('runDirectory') }, (line) => reports.push(line));
  await pauseTree(nats.pid);
  await expect(publish()).rejects.toThrow('timeout');
  process.kill(nats.pid, 'SIGCONT');
  await until(async () => (await publish().catch(() => undefined)) !== undefined);
  expect(reports).toEqual([]);
  process.kill(nats.pid, 0);
});
