import { rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { inspect } from 'node:util';
import { openDataDirectory } from './data-directory/data-directory.ts';
import { findNpmProcess, watchNpmProcess } from './instance/npm-process.ts';
import { acquireSupervisorLock } from './instance/supervisor-lock.ts';
import type { SupervisorState } from './instance/supervisor-state.ts';
import { identifyProcess, isAlive } from './process/process-identity.ts';
import { cacheDirectory } from './provision/cache-directory.ts';
import { restartCompiled } from './supervise/compile-cache.ts';
import { startSystem } from './supervise/system.ts';
import { openTaskProcess } from './supervise/task-process.ts';
import { renderBanner } from './terminal/banner.ts';
import { openProgress } from './terminal/progress.ts';
import { listenForStopSignals, type StopRequests } from './terminal/stop-signals.ts';

/** `weir start`: runs the whole system until it is stopped. */
const emptyCompileCache = restartCompiled();
let state: SupervisorState | undefined;
const progress = openProgress(process.stdout);
// A closed terminal or pipe must not crash the supervisor: it stops on a signal, and in order.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
const stop = listenForStopSignals(process, forceStop);
// A task that failed must not end the services: each is supervised by a loop of its own.
process.on('unhandledRejection', (reason) => progress.note(`a task failed: ${inspect(reason)}`));
process.on('uncaughtException', (error) => {
  process.exitCode = 1;
  progress.note(inspect(error));
  if (!stop.signal.aborted) stop.request('an error that no code expected');
});

try {
  await main(stop);
} catch (error) {
  if (!stop.signal.aborted) {
    process.stderr.write(`\n${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}

async function main({ signal, requested, request }: StopRequests): Promise<void> {
  // First: once npm is gone, it cannot be found any more.
  const npm = findNpmProcess(process);
  await using resources = new AsyncDisposableStack();
  const tasks = resources.use(openTaskProcess());
  const config = await tasks.run('parseConfig', process.env);
  const data = openDataDirectory(config.WEIR_DATA_DIR);
  state = await acquireSupervisorLock({
    file: data.file('supervisor.json'),
    self: identifyProcess(process.pid),
    launcher: npm,
    kill: (pid, name) => void process.kill(pid, name),
    report: (text) => progress.note(`  … ${text}`),
    onPredecessorGone: () => rmSync(data.file('connection.json'), { force: true }),
  });
  if (npm) watchNpmProcess(process, npm, () => request('npm exited'));
  await progress.step('preflight', () => tasks.run('preflight', config));
  signal.throwIfAborted();
  const cacheDir = cacheDirectory(process.env, join(data.path, 'cache'));
  const env = process.env;
  try {
    const connection = await startSystem({
      ...{ config, env, emptyCompileCache, data, cacheDir, state },
      ...{ progress, resources, loops: new Map(), signal, tasks },
    });
    const { WEIR_VENDOR: vendor, WEIR_DATA_DIR: dataDir } = config;
    const isTerminal = process.stdout.isTTY === true;
    const signInLink = isTerminal ? await tasks.run('createOwnerLink', connection) : undefined;
    await tasks[Symbol.asyncDispose]();
    const options = { signInLink, vendor, dataDir, nowMs: Date.now(), isTerminal };
    process.stdout.write(renderBanner(connection, options));
    // It runs for months and may be killed: Node would write its cache only at a regular exit.
    flushCompileCache();
    const reason = await requested;
    progress.note(`\n  ${reason}: draining, then stopping (press Ctrl-C again to stop immediately) …`);
  } finally {
    state.beginStop();
  }
}

/** The second Ctrl-C. Nothing is lost: every acknowledged event is on disk, and the next start recovers. */
function forceStop(): void {
  for (const child of state?.children ?? []) {
    if (isAlive(child)) process.kill(child.pid, 'SIGKILL');
  }
  process.exit(130);
}
