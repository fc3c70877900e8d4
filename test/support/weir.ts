import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Connection, readConnection } from '../../lib/connection.ts';
import { readJson } from '../../scripts/start/json-file.ts';
import { readProcess } from '../../scripts/start/process-identity.ts';
import type { SupervisorRecord } from '../../scripts/start/supervisor-state.ts';
import { until } from './wait.ts';

/** A data directory of the test's own; whatever runs in it is killed at the end. */
export interface Weir extends AsyncDisposable {
  dataDir: string;
  /** Starts the system, as `npm start` does, and does not wait. */
  launch(variables?: Record<string, string>, command?: readonly string[]): Launched;
  connection(): Connection;
  record(): SupervisorRecord;
  /** The pids of the supervisor and its children that live. */
  pids(): number[];
}

export interface Launched {
  pid: number;
  /** All it has written to the terminal so far. */
  output(): string;
  /** Waits until it has announced itself. */
  ready(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Goes away as a terminal does that is closed. */
  closeOutput(): void;
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | string>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const startCommand = [execPath, 'scripts/run.mjs', 'scripts/start.ts'] as const;

export function makeWeir(): Weir {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-start-'));
  const readRecord = () => readJson<SupervisorRecord>(join(dataDir, 'supervisor.json'));
  const record = () => readRecord() ?? fail('nothing was started');
  const pids = () => {
    const known = readRecord();
    return known ? [known, ...known.children].map(({ pid }) => pid).filter((pid) => readProcess(pid)) : [];
  };
  return {
    dataDir,
    record,
    pids,
    connection: () => readConnection(dataDir) ?? fail('there is no connection.json'),
    launch: (variables = {}, command = startCommand) => launch(dataDir, variables, command),
    async [Symbol.asyncDispose]() {
      for (const pid of pids()) process.kill(pid, 'SIGKILL');
      await until(() => pids().length === 0);
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function launch(dataDir: string, variables: Record<string, string>, command: readonly string[]): Launched {
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    cwd: root,
    env: { ...withoutNpm(env), WEIR_DATA_DIR: dataDir, INGEST_PORT: '0', DASHBOARD_PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | string);
  let hasEnded = false;
  ended.then(() => {
    hasEnded = true;
  });
  return {
    pid: child.pid ?? fail('it was not started'),
    output: () => output,
    kill: (signal) => child.kill(signal),
    closeOutput: () => {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    ended,
    ready: () =>
      until(() => {
        if (hasEnded) throw new Error(`it ended:\n${output}`);
        return output.includes('Weir is ready') && existsSync(join(dataDir, 'connection.json'));
      }, 60_000),
  };
}

/** The test runs under npm itself: the system must not watch that npm. */
function withoutNpm(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !/^(npm_|VITEST|NODE_ENV)/.test(name)),
  );
}

function fail(message: string): never {
  throw new Error(message);
}
