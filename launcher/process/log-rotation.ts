import { copyFileSync, rmSync, truncateSync } from 'node:fs';
import { type LoopLog, startLoop } from '../../platform/background-loop.ts';
import { logBytes } from './log-file.ts';

/** The size of one log file; two generations of each are kept. */
export const logBytesMax = 16 * 1024 ** 2;

/** A service at `debug` writes some megabytes in this time, by which a file exceeds `logBytesMax`. */
const checkIntervalMs = 10_000;

/** Copies a large log file to `<file>.1` and truncates it. Its writer opened it for appending. */
export function rotateLogFiles(
  files: readonly string[],
  log: LoopLog,
  intervalMs = checkIntervalMs,
): AsyncDisposable {
  const rotations = new AsyncDisposableStack();
  for (const file of files) {
    const failure = `${file} was not kept as ${file}.1`;
    const work = { run: () => rotateLogFile(file), intervalMs, delayMs: intervalMs, failure };
    rotations.use(startLoop(work, log));
  }
  return rotations;
}

/** @throws the system's error when entries are lost, as on a full disk. */
export function rotateLogFile(file: string): void {
  if (logBytes(file) <= logBytesMax) return;
  try {
    copyFileSync(file, `${file}.1`);
  } catch (error) {
    // Half a copy helps nobody, and takes space that the disk lacks.
    rmSync(`${file}.1`, { force: true });
    throw error;
  } finally {
    // Also without room for the copy: then the old entries are lost.
    truncateSync(file, 0);
  }
}
