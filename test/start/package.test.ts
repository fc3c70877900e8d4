import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { writeWeirPackage } from '../../harness/release/weir-package.ts';
import { createWeirDirectory, type WeirDirectory } from '../../harness/system/weir.ts';
import { readProcess } from '../../launcher/process/process-identity.ts';
import { runProgram } from '../../launcher/process/run-program.ts';
import { version } from '../../platform/version.ts';
import { builtWeb } from '../support/browser/built-web.ts';
import { postEvents } from '../support/http.ts';
import { until } from '../support/wait.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const timeout = 400_000;
const waitMs = 60_000;
const pauseMs = 50;

/** Puts the package into a node_modules, as npm installs it, with the dependencies of the checkout. */
async function install(directory: string, installed: string): Promise<string> {
  const modules = join(directory, 'node_modules');
  const folder = join(modules, 'weir');
  mkdirSync(folder, { recursive: true });
  await writeWeirPackage(root, folder, await builtWeb());
  const manifest = join(folder, 'package.json');
  writeFileSync(
    manifest,
    JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), version: installed }),
  );
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== 'weir') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  return join(folder, 'cli', 'weir.mjs');
}

/** Starts the package and runs its commands, with one data directory. */
function openPackage(weir: WeirDirectory, program: string) {
  const options = {
    cwd: join(program, '../../../..'),
    env: { PATH: env.PATH, WEIR_DATA_DIR: weir.dataDir },
  };
  return {
    start: async () => {
      const launched = weir.launch({}, [execPath, program, 'start']);
      await launched.ready();
      return launched;
    },
    run: (...args: string[]) => runProgram(execPath, [program, ...args], { timeoutMs: waitMs, ...options }),
    /** What the doctor found. It also fails for what is of the machine, e.g. a disk that is filling. */
    findings: (): { check: string; found: string }[] =>
      spawnSync(execPath, [program, 'doctor'], { timeout: waitMs, encoding: 'utf8', ...options })
        .stdout.trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

/**
 * The pages, services and commands of a package that runs are its own.
 * @returns the ids of the events that it has then.
 */
async function useAll(
  weir: WeirDirectory,
  program: string,
  { output, run }: { output: string; run: (...args: string[]) => Promise<string> },
): Promise<string[]> {
  expect(await run('--help')).toContain('run the whole system');
  expect(output).toContain('npx weir events');
  for (const name of ['ingest', 'writer', 'dashboard-api'])
    expect(readProcess(weir.pidOf(name))?.commandLine).toContain(join(program, '../../services'));
  const { dashboardUrl, spaceId } = weir.connection();
  const page = await fetch(dashboardUrl, { headers: { Accept: 'text/html' } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="root">')]);
  const { accepted } = JSON.parse(await run('send', '--sample'));
  const readIds = async () => idsOf(await run('events', '--space', spaceId, '--limit', '1000000'));
  await until(async () => (await readIds()).length === accepted, waitMs);
  return readIds();
}

/** The ids of events, one a line. */
const idsOf = (lines: string): string[] =>
  Array.from(lines.matchAll(/^.+$/gm), ([line]) => JSON.parse(line).id);

/**
 * A small load: batches, one after the other, each sent until it is accepted, also while Weir is away. Adds
 * their ids.
 */
function startLoad(weir: WeirDirectory, accepted: string[]) {
  let isOver = false;
  const send = async (events: ReturnType<typeof someEvents>) => {
    const { ingestUrl, apiKey } = weir.connection();
    return (await postEvents({ url: ingestUrl }, { apiKey }, events)).status;
  };
  const run = async () => {
    while (!isOver) {
      const events = someEvents(5);
      await until(async () => (await send(events).catch(() => 0)) === 202, waitMs);
      accepted.push(...events.map(({ id }) => String(id)));
      await sleep(pauseMs);
    }
  };
  const done = run();
  return {
    untilMore: (more = 20) => {
      const wanted = accepted.length + more;
      return until(() => accepted.length >= wanted, waitMs);
    },
    stop: () => {
      isOver = true;
      return done;
    },
  };
}

test('the npm package runs the whole system; under load it is backed up, loses its Postgres, is restored, upgraded and taken back; each accepted event is stored once', {
  timeout,
}, async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'weir-packages-'));
  await using weir = createWeirDirectory();
  const program = await install(join(directory.path, 'before'), '0.1.99');
  const before = openPackage(weir, program);
  const next = openPackage(weir, await install(join(directory.path, 'next'), version));
  const versionsOf = ({ findings }: typeof next) =>
    findings().find(({ check }) => check === 'services.versions')?.found;

  expect((await before.run('--version')).trim()).toBe('0.1.99');
  let launched = await before.start();
  const accepted = await useAll(weir, program, { output: launched.output(), run: before.run });
  const restart = async (one: typeof next) => {
    launched.kill('SIGTERM');
    expect(await launched.exited).toBe(0);
    launched = await one.start();
    await load.untilMore();
  };
  const load = startLoad(weir, accepted);
  await load.untilMore();
  await before.run('backup');
  await load.untilMore();
  rmSync(join(weir.dataDir, 'postgres'), { recursive: true, maxRetries: 10 });
  await load.untilMore();
  expect(await before.run('restore', '--yes')).toContain('"lost":[]');
  await restart(next);
  expect(versionsOf(next)).toBe(`all ${version}`);
  await restart(before);
  expect(versionsOf(before)).toBe('all 0.1.99');
  await load.stop();

  const { spaceId } = weir.connection();
  await until(async () => !(await before.run('queue')).match(/"pending":[1-9]/), waitMs);
  const stored = await before.run('events', '--space', spaceId, '--limit', '1000000');
  const ids = idsOf(stored);
  expect(ids.toSorted()).toEqual(accepted.toSorted());
  expect(JSON.parse(await before.run('usage', '--space', spaceId))).toMatchObject({ events: ids.length });
  launched.kill('SIGTERM');
  expect(await launched.exited).toBe(0);
});
