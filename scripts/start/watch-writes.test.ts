import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { expect, inject, test } from 'vitest';
import { parseConfig } from '../../lib/config.ts';
import { connectQueue } from '../../lib/queue/connect.ts';
import { firstStream } from '../../lib/queue/settings.ts';
import { ensureStream } from '../../lib/queue/stream.ts';
import { startNats } from '../../test/support/backing.ts';
import { pauseProcess } from '../../test/support/pause.ts';
import { until } from '../../test/support/wait.ts';
import { readNatsHealth } from '../provision/nats-health.ts';
import { runProgram } from '../provision/run-program.ts';
import { watchWrites } from './watch-writes.ts';

async function openQueue() {
  const nats = await startNats();
  const connection = await connectQueue(nats.url, 'test');
  await ensureStream(
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

test('a nats-server whose write failed is stopped once the disk takes writes, and accepts when started again', async () => {
  await using queue = await openQueue();
  const { nats, publish } = queue;
  await publish();
  // Its files may not grow any more: the next write fails, as it does on a full disk.
  await runProgram('prlimit', ['--pid', String(nats.pid), '--fsize=150000'], { timeoutMs: 5_000 });
  await expect(publish()).rejects.toThrow('timeout');
  expect((await readNatsHealth(nats.monitorUrl, 5_000)).writeRefusal).toMatch(/write error/);

  const storeDir = join(mkdtempSync(join(inject('runDirectory'), 'disk-')), 'away');
  const reports: string[] = [];
  const watched = watchWrites({ ...nats, storeDir }, (line) => reports.push(line));
  await until(() => reports.length === 1);
  expect(reports[0]).toMatch(/^nats-server accepts no events: .*file too large/);
  await expect(publish()).rejects.toThrow('timeout');
  expect(reports).toHaveLength(1);
  mkdirSync(storeDir);
  await watched;
  await nats.exited;
  expect(reports.slice(1)).toEqual([expect.stringContaining('the disk takes writes')]);
  expect(existsSync(join(storeDir, 'write-probe'))).toBe(false);
  await nats.restart();
  await until(async () => (await publish().catch(() => undefined)) !== undefined);
});

test('a nats-server that is only paused is left alone', async () => {
  await using queue = await openQueue();
  const { nats, publish } = queue;
  const reports: string[] = [];
  void watchWrites({ ...nats, storeDir: inject('runDirectory') }, (line) => reports.push(line));
  await pauseProcess(nats.pid);
  await expect(publish()).rejects.toThrow('timeout');
  process.kill(nats.pid, 'SIGCONT');
  await until(async () => (await publish().catch(() => undefined)) !== undefined);
  expect(reports).toEqual([]);
  process.kill(nats.pid, 0);
});
