import { execFile } from 'node:child_process';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = (...args: string[]) =>
  promisify(execFile)(execPath, ['launcher/run.mjs', ...args], { cwd: root, env: { PATH: env.PATH } });

test('a program of a dependency runs with its arguments', async () => {
  expect((await run('vitest', '--version')).stdout).toMatch(/^vitest\/\d/);
});

test('an unknown script is an error with its name', async () => {
  await expect(run('no-such-thing')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no script and no installed program is called no-such-thing'),
  });
});
