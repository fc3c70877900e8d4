import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logBytesMax, rotateLogFile } from './log-rotation.ts';

test('a log file that is too large is renamed to .1 and starts empty', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-logs-'));
  try {
    const file = join(directory, 'ingest.log');
    rotateLogFile(file);
    writeFileSync(file, 'small');
    rotateLogFile(file);
    expect(statSync(file).size).toBe(5);
    truncateSync(file, logBytesMax);
    appendFileSync(file, 'more');
    rotateLogFile(file);
    expect(statSync(file).size).toBe(0);
    expect(statSync(`${file}.1`).size).toBe(logBytesMax + 4);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
