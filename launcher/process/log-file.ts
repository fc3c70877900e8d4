import { readFileSync, statSync } from 'node:fs';

/** @returns the offset for a later `readLog`; 0 when the file does not exist. */
export function logBytes(logFile: string): number {
  return statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
}

/** @returns an empty text when the file does not exist. */
export function readLog(logFile: string, fromByte = 0): string {
  if (logBytes(logFile) === 0) return '';
  return readFileSync(logFile).subarray(fromByte).toString('utf8');
}

export function lastLogLines(logFile: string, fromByte: number, linesMax = 12): string {
  return readLog(logFile, fromByte).trimEnd().split('\n').slice(-linesMax).join('\n');
}
