import { execFile } from 'node:child_process';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (...args: string[]) =>
  promisify(execFile)(execPath, ['scripts/run.mjs', ...args], { cwd: root, env: { PATH: env.PATH } });

test('a program of a dependency runs with its arguments', async () => {
  expect((await run('vitest', '--version')).stdout).toMatch(/^vitest\/\d/);
});

test('a script that is not there is told, without a stack of ours', async () => {
  await expect(run('no-such-thing')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is neither a script nor a program no-such-thing'),
  });
});
