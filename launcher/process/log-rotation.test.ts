import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkTmpfs, openSmallDisk } from '../../harness/chaos/disk/small-disk.ts';
import { until } from '../../test/support/wait.ts';
import { logLines } from '../terminal/progress.ts';
import { logBytesMax, rotateLogFile, rotateLogFiles } from './log-rotation.ts';

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

test('on a full disk a log file is emptied, which is reported, and the next one is rotated', async (context) => {
  const reason = await checkTmpfs();
  context.skip(reason !== undefined, reason);
  await using disk = await openSmallDisk(40);
  const [first, second] = [join(disk.directory, 'ingest.log'), join(disk.directory, 'writer.log')];
  writeFileSync(first, Buffer.alloc(logBytesMax + 1));
  await disk.fill(logBytesMax / 2);
  const lines: string[] = [];
  await using _rotation = rotateLogFiles(
    [first, second],
    logLines((line) => lines.push(line)),
    10,
  );
  await until(() => statSync(first).size === 0);
  expect(lines).toEqual([expect.stringMatching(/ingest\.log was not kept as .*: ENOSPC/)]);
  expect(existsSync(`${first}.1`)).toBe(false);
  await disk.clear();
  writeFileSync(second, Buffer.alloc(logBytesMax + 1));
  await until(() => existsSync(`${second}.1`) && statSync(second).size === 0);
});
