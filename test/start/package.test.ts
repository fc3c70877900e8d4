import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { writeWeirPackage } from '../../harness/release/weir-package.ts';
import { createWeirDirectory } from '../../harness/system/weir.ts';
import { readProcess } from '../../launcher/process/process-identity.ts';
import { runProgram } from '../../launcher/process/run-program.ts';
import { version } from '../../platform/version.ts';
import { builtWeb } from '../support/browser/built-web.ts';
import { until } from '../support/wait.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Puts the package into a node_modules, as npm installs it, with the dependencies of the checkout. */
async function install(directory: string): Promise<string> {
  const modules = join(directory, 'node_modules');
  mkdirSync(join(modules, 'weir'), { recursive: true });
  await writeWeirPackage(root, join(modules, 'weir'), await builtWeb());
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== 'weir') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  return join(modules, 'weir', 'cli', 'weir.mjs');
}

test('the npm package starts the whole system, whose pages, services and commands are its own', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'weir-package-'));
  await using weir = createWeirDirectory();
  const program = await install(directory.path);
  const run = (...args: string[]) =>
    runProgram(execPath, [program, ...args], {
      timeoutMs: 60_000,
      cwd: directory.path,
      env: { PATH: env.PATH, WEIR_DATA_DIR: weir.dataDir },
    });
  expect((await run('--version')).trim()).toBe(version);
  const help = await run('--help');
  expect(help).toContain('weir start');

  const launched = weir.launch({}, [execPath, program, 'start']);
  await launched.ready();
  expect(launched.output()).toContain('npx weir events');
  for (const name of ['ingest', 'writer', 'dashboard-api'])
    expect(readProcess(weir.pidOf(name))?.commandLine).toContain(
      join(directory.path, 'node_modules/weir/services'),
    );
  const { dashboardUrl, spaceId } = weir.connection();
  const page = await fetch(dashboardUrl, { headers: { Accept: 'text/html' } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="root">')]);
  await run('send', join(directory.path, 'node_modules/weir/examples/events.ndjson'), '--now');
  await until(async () => (await run('events', '--space', spaceId, '--limit', '1')).includes('"id"'));

  launched.kill('SIGTERM');
  expect(await launched.exited).toBe(0);
});
