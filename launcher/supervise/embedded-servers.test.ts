import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../../platform/config.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { ensureStreams } from '../../platform/queue/stream.ts';
import { ensureControlStream } from '../../store/control/stream.ts';
import { startNats } from '../../test/support/test-servers.ts';
import { openDataDirectory } from '../data-directory/data-directory.ts';
import { queueBytesWithin } from './embedded-servers.ts';

test('on the smallest disk the queue leaves room for the control stream, and one without room is told the bytes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-small-'));
  try {
    const { natsFileBytesMax } = openDataDirectory(directory, () => 500 * 1024 ** 2);
    await using nats = await startNats({ maxFileBytes: natsFileBytesMax });
    await using connection = await connectQueue(nats.url, 'test');
    const ensureQueue = (bytes: number) =>
      ensureStreams(
        connection,
        parseConfig({ NATS_MONITOR_URL: nats.monitorUrl, QUEUE_BYTES_MAX: String(bytes) }),
      );
    const ensureControl = () => ensureControlStream(connection, { NATS_REPLICAS: 1 });
    // As an operator may configure an own nats-server.
    await ensureQueue(Math.floor(natsFileBytesMax * 0.85));
    await expect(ensureControl()).rejects.toThrow(/134217728 bytes.*QUEUE_BYTES_MAX/);
    const queueBytes = queueBytesWithin(natsFileBytesMax, 8 * 1024 ** 3);
    expect(queueBytes).toBeGreaterThan(100 * 1024 ** 2);
    await ensureQueue(queueBytes);
    await ensureControl();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
