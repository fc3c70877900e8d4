import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { boundLogFile, logBytesMax } from './log-files.ts';

test('a log that has grown too large becomes the older generation, and begins anew', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-logs-'));
  try {
    const file = join(directory, 'ingest.log');
    boundLogFile(file);
    writeFileSync(file, 'small');
    boundLogFile(file);
    expect(statSync(file).size).toBe(5);
    truncateSync(file, logBytesMax);
    appendFileSync(file, 'more');
    boundLogFile(file);
    expect(statSync(file).size).toBe(0);
    expect(statSync(`${file}.1`).size).toBe(logBytesMax + 4);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
