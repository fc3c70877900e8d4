import { startLoop } from '../../platform/background-loop.ts';
import { logBytes, readLog } from '../process/log-file.ts';
import type { ServerProcess } from '../process/server-process.ts';
import { logLines } from '../terminal/progress.ts';

/** Bounds the delay of a restart. */
const pollMs = 2_000;

/**
 * After a PANIC Postgres logs its next step within a second; a core dump of its shared memory takes longer.
 */
const silenceMsMax = 15_000;

export interface WatchedPostgres extends Pick<ServerProcess, 'exited' | 'stop'> {
  logFile: string;
}

/**
 * Stops a Postgres that hangs after a PANIC during recovery, so that it is restarted and recovers: when the
 * recovering process cannot fsync, Postgres 18.4 waits for it forever and rejects every client. Detected by
 * the log, whose last entry, ignoring rejected clients, is the PANIC.
 * @returns when the server has exited.
 */
export async function watchPostgres(
  { logFile, exited, stop }: WatchedPostgres,
  report: (line: string) => void,
): Promise<void> {
  const hasPanicked = createPanicWatch();
  let readUntil: number | undefined;
  const run = async () => {
    readUntil ??= logBytes(logFile);
    const text = readLog(logFile, readUntil);
    readUntil = logBytes(logFile);
    if (!hasPanicked(text, performance.now())) return;
    report('Postgres hangs after a PANIC in its recovery: stopping it for a restart');
    await stop();
  };
  const failure = 'the log of Postgres was not read';
  await using _loop = startLoop({ run, intervalMs: pollMs, retryMs: pollMs, failure }, logLines(report));
  await exited;
}

/** @returns a function of new log text: whether the last entry is a PANIC more than `silenceMsMax` ago. */
export function createPanicWatch(): (text: string, nowMs: number) => boolean {
  let panickedAtMs: number | undefined;
  return (text, nowMs) => {
    const last = text.split('\n').filter(isServerEntry).at(-1);
    if (last !== undefined) panickedAtMs = last.includes(' PANIC: ') ? nowMs : undefined;
    return panickedAtMs !== undefined && nowMs - panickedAtMs > silenceMsMax;
  };
}

/** Excludes continuation lines, and entries about clients that are rejected during recovery. */
function isServerEntry(line: string): boolean {
  return /\[\d+\] (LOG|PANIC|FATAL|ERROR|WARNING): /.test(line) && !line.includes('the database system is ');
}
