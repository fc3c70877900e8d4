import { copyFileSync, truncateSync } from 'node:fs';
import { logLength } from '../provision/embedded-process.ts';

/** Of one log; there are two generations of each. */
export const logBytesMax = 16 * 1024 ** 2;

const checkIntervalMs = 10_000;

/**
 * Keeps log files from filling the disk: one that has grown too large becomes `<file>.1` and begins anew. Its writer
 * appends, and so goes on at the new end without noticing.
 */
export function boundLogFiles(files: readonly string[]): Disposable {
  const timer = setInterval(() => files.forEach(boundLogFile), checkIntervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Does it once, for one file. */
export function boundLogFile(file: string): void {
  if (logLength(file) <= logBytesMax) return;
  try {
    copyFileSync(file, `${file}.1`);
  } finally {
    // Even when there is no room for the copy: then the old entries are what has to go.
    truncateSync(file, 0);
  }
}
