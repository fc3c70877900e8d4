import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import { killLeaks, writePidFile } from './pid-file.ts';

test('a recorded process that runs is killed; one of another identity and files without a pid are ignored', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-test-pids-'));
  const child = spawn(execPath, ['-e', 'setInterval(() => {}, 1_000)']);
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true });
  });
  mkdirSync(join(directory, 'nats'));
  const leak = join(directory, 'nats', 'pid-1');
  writePidFile(leak, child.pid ?? 0);
  writeFileSync(join(directory, 'pid-empty'), '{}');
  writeFileSync(join(directory, 'pid-null'), 'null');
  writeFileSync(join(directory, 'pid'), JSON.stringify({ pid: process.pid, identity: 'of another process' }));
  const exited = once(child, 'exit');
  expect(killLeaks(directory)).toEqual([leak]);
  expect(await exited).toEqual([null, 'SIGKILL']);
  expect(killLeaks(directory)).toEqual([]);
});
