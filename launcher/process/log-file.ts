import { readFileSync, statSync } from 'node:fs';

/** The size of a log file in bytes, the offset for a later `readLog`; 0 when the file does not exist. */
export function logBytes(logFile: string): number {
  return statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
}

/** The content of a log file from an offset on; empty when the file does not exist. */
export function readLog(logFile: string, fromByte = 0): string {
  if (logBytes(logFile) === 0) return '';
  return readFileSync(logFile).subarray(fromByte).toString('utf8');
}

/** The last lines that were written to a log file after an offset. */
export function lastLogLines(logFile: string, fromByte: number, linesMax = 12): string {
  return readLog(logFile, fromByte).trimEnd().split('\n').slice(-linesMax).join('\n');
}
