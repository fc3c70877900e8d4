import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { startLoop } from '../../platform/background-loop.ts';
import { readNatsHealth } from '../../platform/queue/nats-health.ts';
import type { NatsServer } from '../provision/nats/nats-server.ts';
import { logLines } from '../terminal/progress.ts';

/** Bounds the delay of a restart. One request costs nats-server a millisecond. */
const pollMs = 1_000;

/** Far longer than the response takes. A server that is paused or slow responds later, and is not stopped. */
const responseTimeoutMs = 5_000;

/** A block of the store plus the largest message: with less, the next batch would fail. */
const freeBytesMin = 16 * 1024 * 1024;

export interface WatchedServer extends Pick<NatsServer, 'monitorUrl' | 'exited' | 'stop'> {
  storeDir: string;
}

/**
 * Stops a nats-server that rejects writes after a disk error, once the disk is writable again, so that it is
 * restarted. Without a restart it rejects writes forever, and its clients see only time-outs. Only its own
 * health report counts, not a missing response: a restart makes neither a paused server nor a slow disk
 * faster.
 * @returns when the server has exited.
 */
export async function watchNats(server: WatchedServer, report: (line: string) => void): Promise<void> {
  let isReported = false;
  const run = async (signal: AbortSignal) => {
    const health = await readNatsHealth(server.monitorUrl, responseTimeoutMs).catch(() => undefined);
    const writeError = health?.writeError;
    if (writeError === undefined || signal.aborted) return;
    if (!isReported)
      report(`nats-server accepts no events: ${writeError}. It is restarted when the disk is writable`);
    isReported = true;
    if (!(await isWritable(server.storeDir))) return;
    report('the disk is writable again: stopping nats-server for a restart');
    await server.stop();
  };
  const failure = 'nats-server was not checked';
  await using _loop = startLoop({ run, intervalMs: pollMs, retryMs: pollMs, failure }, logLines(report));
  await server.exited;
}

/**
 * Whether the disk has space and an fsync succeeds. On a full disk nats-server would start and fail again.
 */
async function isWritable(directory: string): Promise<boolean> {
  const file = join(directory, 'write-probe');
  try {
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < freeBytesMin) return false;
    await using probe = await open(file, 'w', 0o600);
    await probe.write(Buffer.alloc(4096));
    await probe.sync();
    return true;
  } catch {
    return false;
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}
