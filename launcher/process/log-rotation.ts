import { copyFileSync, truncateSync } from 'node:fs';
import { logBytes } from './log-file.ts';

/** The size of one log file; two generations of each are kept. */
export const logBytesMax = 16 * 1024 ** 2;

/** A service at `debug` writes some megabytes in this time, so a file is a little larger than `logBytesMax` at most. */
const checkIntervalMs = 10_000;

/**
 * Keeps log files from filling the disk: one that is too large is copied to `<file>.1` and truncated. Its writer opened
 * it for appending, so it continues at the new end.
 */
export function rotateLogFiles(files: readonly string[]): Disposable {
  const timer = setInterval(() => files.forEach(rotateLogFile), checkIntervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Rotates one file if it is too large. */
export function rotateLogFile(file: string): void {
  if (logBytes(file) <= logBytesMax) return;
  try {
    copyFileSync(file, `${file}.1`);
  } finally {
    // Also when there is no room for the copy: then the old entries are lost.
    truncateSync(file, 0);
  }
}
