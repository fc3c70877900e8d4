import { rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ConfigError, parseConfig } from '../lib/config.ts';
import { cacheDirectory } from './provision/cache-directory.ts';
import { renderBanner } from './start/banner.ts';
import { openDataDirectory } from './start/data-directory.ts';
import { findLauncher, watchLauncher } from './start/launcher.ts';
import { isAlive, markProcess } from './start/process-identity.ts';
import { openProgress } from './start/progress.ts';
import { runSystem } from './start/run-system.ts';
import { listenForStop, type StopRequests } from './start/stop-requests.ts';
import type { SupervisorState } from './start/supervisor-state.ts';
import { checkSurroundings } from './start/surroundings.ts';
import { takeOver } from './start/take-over.ts';

/** `npm start`: runs the whole system until it is told to stop (design §4). */
let state: SupervisorState | undefined;
const progress = openProgress(process.stdout);
// A terminal or pipe that went away must not end us: we stop by a signal, and in order.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
const stop = listenForStop(process, forceStop);

try {
  await main(stop);
} catch (error) {
  if (!stop.signal.aborted) {
    process.stderr.write(`\n${error instanceof ConfigError ? error.message : describe(error)}\n`);
    process.exitCode = 1;
  }
}

async function main({ signal, requested, request }: StopRequests): Promise<void> {
  const config = parseConfig(process.env);
  const data = openDataDirectory(config.WEIR_DATA_DIR);
  const kill = (pid: number, name: NodeJS.Signals) => void process.kill(pid, name);
  const launcher = findLauncher(process);
  const self = markProcess(process.pid);
  const report = (text: string) => progress.note(`  … ${text}`);
  const onVacant = () => rmSync(data.file('connection.json'), { force: true });
  state = await takeOver({ file: data.file('supervisor.json'), self, launcher, kill, report, onVacant });
  if (launcher) watchLauncher(process, launcher, () => request('npm is gone'));
  await progress.step('surroundings', () => checkSurroundings(config));
  signal.throwIfAborted();
  await using resources = new AsyncDisposableStack();
  const cacheDir = cacheDirectory(process.env, join(data.path, 'cache'));
  const context = { config, env: process.env, data, cacheDir, state, progress, resources, signal };
  try {
    const connection = await runSystem(context);
    const shown = { vendor: config.VENDOR, dataDir: config.WEIR_DATA_DIR, nowMs: Date.now() };
    process.stdout.write(renderBanner(connection, shown));
    const reason = await requested;
    progress.note(`\n  ${reason}: finishing what has begun, then stopping (again to stop at once) …`);
  } finally {
    state.beginStop();
  }
}

/** The second Ctrl-C. What is killed here is repaired by the next start: everything that was answered is on disk. */
function forceStop(): void {
  for (const child of state?.children ?? []) {
    if (isAlive(child)) process.kill(child.pid, 'SIGKILL');
  }
  process.exit(130);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
