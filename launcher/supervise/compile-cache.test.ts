import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const runner = fileURLToPath(new URL('../run.mjs', import.meta.url));
const module = new URL('compile-cache.ts', import.meta.url).href;

/** Prints a line a run. */
const script = `
import { restartCompiled } from '${module}';
const hasParser: boolean = process.moduleLoadList.some((name) => name.includes('amaro'));
console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2), execArgv: process.execArgv[0], hasParser }));
restartCompiled();
`;

async function runs(env: Record<string, string>, file: string): Promise<unknown[]> {
  const args = ['--max-semi-space-size=1', runner, file, 'one', '--two'];
  const { stdout } = await promisify(execFile)(execPath, args, { env });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('a process whose code was not compiled runs again without the TypeScript parser, once', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'weir-compiled-'));
  const file = join(directory.path, 'script.ts');
  await writeFile(file, script);
  const cache = { NODE_COMPILE_CACHE: join(directory.path, 'cache') };
  const common = { pid: expect.any(Number), args: ['one', '--two'], execArgv: '--max-semi-space-size=1' };

  const [first, second, ...more] = await runs(cache, file);
  expect(first).toEqual({ ...common, hasParser: true });
  expect(second).toEqual({ ...(first as object), hasParser: false });
  expect(more).toEqual([]);
  expect(await runs(cache, file)).toEqual([{ ...common, hasParser: false }]);

  expect(await runs({ NODE_DISABLE_COMPILE_CACHE: '1' }, file)).toEqual([{ ...common, hasParser: true }]);
});
