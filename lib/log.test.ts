import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { execPath } from 'node:process';
import { expect, test } from 'vitest';

const program = `
  import { openLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
  const log = openLog('test', { LOG_LEVEL: 'info' });
  for (let i = 0; i < 3; i++) {
    log.info({ password: 'secret' }, 'said');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  process.stderr.write('done');
`;

function run(output: number | 'pipe') {
  return spawnSync(execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', output, 'pipe'],
    encoding: 'utf8',
    timeout: 30_000,
  });
}

test('an output that takes nothing, as on a full disk, does not end the process', () => {
  const full = openSync('/dev/full', 'w');
  try {
    expect(run(full)).toMatchObject({ status: 0, stderr: 'done' });
  } finally {
    closeSync(full);
  }
});

test('an entry is a line of JSON, and what is secret is struck out', () => {
  const { status, stdout } = run('pipe');
  expect(status).toBe(0);
  const entries = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries).toHaveLength(3);
  expect(entries[0]).toMatchObject({ name: 'test', msg: 'said', password: '…' });
});
