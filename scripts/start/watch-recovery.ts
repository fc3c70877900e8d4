import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedProcess, lastLogLines, logLength } from '../provision/embedded-process.ts';

const pollMs = 2_000;

/** Of a panic Postgres says within a moment how it goes on; a core dump of its shared memory takes longer. */
const silenceMsMax = 15_000;

/** What of a Postgres is watched. */
export interface WatchedPostgres extends Pick<EmbeddedProcess, 'exited' | 'stop'> {
  logFile: string;
}

/**
 * Stops a Postgres whose recovery has panicked and that does not notice: whoever keeps it alive then starts it anew, and it
 * recovers. When the process that recovers after a crash cannot fsync, Postgres 18.4 waits for it for ever, also when the
 * disk is well again, and tells everybody that it is in recovery.
 *
 * It goes by the log: a panic is the last that it said, but for turning clients away.
 *
 * @returns when the server has ended.
 */
export async function watchRecovery(
  { logFile, exited, stop }: WatchedPostgres,
  report: (line: string) => void,
): Promise<void> {
  let ended = false;
  const end = exited.then(() => {
    ended = true;
  });
  const hasPanicked = createPanicWatch();
  let readUntil = logLength(logFile);
  while (!ended) {
    const said = lastLogLines(logFile, readUntil, Number.POSITIVE_INFINITY);
    readUntil = logLength(logFile);
    if (hasPanicked(said, performance.now())) {
      report(
        'Postgres does not come out of a recovery that has panicked: stopping it, so that it recovers anew',
      );
      return stop();
    }
    await Promise.race([end, sleep(pollMs, undefined, { ref: false })]);
  }
}

/** Takes what was said since the last call, and tells whether a panic was the last news, `silenceMsMax` ago. */
export function createPanicWatch(): (said: string, nowMs: number) => boolean {
  let panickedAtMs: number | undefined;
  return (said, nowMs) => {
    const last = said.split('\n').filter(isNews).at(-1);
    if (last !== undefined) panickedAtMs = last.includes(' PANIC: ') ? nowMs : undefined;
    return panickedAtMs !== undefined && nowMs - panickedAtMs > silenceMsMax;
  };
}

/** Neither what follows an entry nor what clients are told meanwhile is news of the server itself. */
function isNews(line: string): boolean {
  return /\[\d+\] (LOG|PANIC|FATAL|ERROR|WARNING): /.test(line) && !line.includes('the database system is ');
}
