import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readNatsHealth } from '../provision/nats-health.ts';
import type { NatsServer } from '../provision/nats-server.ts';

/** A refusal is seen, and space that returned is used, within this. Asking costs nats-server a millisecond. */
const pollMs = 1_000;

/** Far more than the answer takes. A server that is paused or slow answers later, and is left alone. */
const answerTimeoutMs = 5_000;

/** A block of the store and the largest message: with less room nats-server would stop again with the next batch. */
const freeBytesMin = 16 * 1024 * 1024;

/** What of a nats-server is watched. */
export interface WatchedServer extends Pick<NatsServer, 'monitorUrl' | 'exited' | 'stop'> {
  storeDir: string;
}

/**
 * Stops a nats-server that a full or failing disk has made refuse every write, once the disk takes writes again:
 * whoever keeps the server alive then starts it anew, and it accepts. By itself it refuses until it is restarted, even
 * after space has returned, and its clients see nothing but time-outs (reliability §1).
 *
 * It goes only by what the server says of itself on its health page. Silence is no reason: a restart makes neither a
 * paused server nor a slow disk faster.
 *
 * @returns when the server has ended.
 */
export async function watchWrites(server: WatchedServer, report: (line: string) => void): Promise<void> {
  let ended = false;
  const exited = server.exited.then(() => {
    ended = true;
  });
  let reported = false;
  while (!ended) {
    const health = await readNatsHealth(server.monitorUrl, answerTimeoutMs).catch(() => undefined);
    const refusal = health?.writeRefusal;
    if (refusal !== undefined && !ended) {
      if (!reported)
        report(`nats-server accepts no events: ${refusal}. It restarts when the disk takes writes`);
      reported = true;
      if (await takesWrites(server.storeDir)) {
        report('the disk takes writes: stopping nats-server, so that it accepts again');
        return server.stop();
      }
    }
    await Promise.race([exited, sleep(pollMs, undefined, { ref: false })]);
  }
}

/** Whether the disk has room, and brings to it what is written: on a full disk a server starts, and refuses again. */
async function takesWrites(directory: string): Promise<boolean> {
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
