import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath, kill, env as processEnv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { readJson } from '../../launcher/data-directory/json-file.ts';
import type { SupervisorRecord } from '../../launcher/instance/supervisor-state.ts';
import { type Connection, readConnection, readSecrets } from '../../launcher/local-system.ts';
import { readProcess } from '../../launcher/process/process-identity.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { until } from '../wait.ts';

/** A data directory for one Weir. Disposing it kills its running processes and removes it. */
export interface WeirDirectory extends AsyncDisposable {
  readonly dataDir: string;
  /**
   * Starts the whole system on free ports, without waiting for it.
   *
   * @param variables added to the environment of this process, without npm's variables.
   * @param command default: the command of `npm start`.
   */
  launch(variables?: Record<string, string>, command?: readonly string[]): LaunchedWeir;
  /** @throws Error when the system is not ready. */
  connection(): Connection;
  /** @throws Error when nothing was started. */
  record(): SupervisorRecord;
  /** @throws Error when no such process was started. */
  pidOf(name: string): number;
  /** The supervisor and its children that are running. */
  pids(): number[];
}

/** The process of `npm start`. */
export interface LaunchedWeir {
  readonly pid: number;
  /** Everything it has printed so far. */
  output(): string;
  /** Waits until the system is ready. @throws Error with the output when it exits first. */
  ready(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Closes its stdout and stderr, as a closed terminal does. */
  closeOutput(): void;
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly exited: Promise<number | string>;
}

/** A running Weir, with a connection to its database as superuser: `CHECKPOINT` and `VACUUM` need one. */
export interface RunningWeir extends AsyncDisposable {
  readonly connection: Connection;
  readonly sql: Sql;
  /** Connects to the same database as superuser. */
  readonly superuserUrl: string;
  pidOf(name: 'ingest' | 'writer' | 'dashboard-api' | 'nats-server' | 'postgres'): number;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const startOptions = ['--max-semi-space-size=1', '--v8-pool-size=0'] as const;
const startCommand = [execPath, ...startOptions, 'launcher/run.mjs', 'launcher/start.ts'] as const;
const readyTimeoutMs = 180_000;

/** @param parent of the directory. */
export function createWeirDirectory(parent = tmpdir()): WeirDirectory {
  const dataDir = mkdtempSync(join(parent, 'weir-'));
  // Run as root, the embedded Postgres has another user, who must be able to pass the directory.
  chmodSync(dataDir, 0o755);
  const readRecord = () => readJson<SupervisorRecord>(join(dataDir, 'supervisor.json'));
  const record = () => readRecord() ?? fail('nothing was started');
  const pids = () => {
    const found = readRecord();
    return found ? [found, ...found.children].map(({ pid }) => pid).filter((pid) => readProcess(pid)) : [];
  };
  return {
    dataDir,
    record,
    pids,
    pidOf: (name) =>
      record().children.find((child) => child.name === name)?.pid ?? fail(`${name} is not running`),
    connection: () => readConnection(dataDir) ?? fail('the system is not ready: there is no connection.json'),
    launch: (variables = {}, command = startCommand) => launch(dataDir, variables, command),
    async [Symbol.asyncDispose]() {
      for (const pid of pids()) {
        try {
          kill(pid, 'SIGKILL');
        } catch {
          // It has exited meanwhile, with the supervisor.
        }
      }
      await until(() => pids().length === 0);
      // Postgres' backends end a moment after it.
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/**
 * Starts a Weir in a directory of its own, and resolves when it is ready. Disposing it stops it.
 *
 * @param variables added to its environment.
 */
export async function startWeir(variables: Record<string, string> = {}): Promise<RunningWeir> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(createWeirDirectory());
  // With this variable it behaves as under npm: it stops when its parent, this process, has exited.
  const weir = directory.launch({ ...variables, npm_lifecycle_event: 'harness' });
  stack.defer(async () => {
    weir.kill('SIGTERM');
    await weir.exited;
  });
  await weir.ready();
  const connection = directory.connection();
  const { postgresPassword: password } = readSecrets(directory.dataDir) ?? fail('it has no secrets');
  const superuserUrl = Object.assign(new URL(connection.databaseUrl), { username: 'weir', password }).href;
  const sql = stack.use(
    openPostgres(superuserUrl, {
      applicationName: 'weir-harness',
      connectionsMax: 2,
      statementTimeoutMs: 0,
    }),
  );
  const owned = stack.move();
  return {
    connection,
    sql,
    superuserUrl,
    pidOf: (name) => directory.pidOf(name),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function launch(
  dataDir: string,
  variables: Record<string, string>,
  [file = '', ...args]: readonly string[],
): LaunchedWeir {
  const own = {
    WEIR_DATA_DIR: dataDir,
    INGEST_PORT: '0',
    DASHBOARD_PORT: '0',
    // The same on every machine: measurements and faults name the processes.
    INGEST_PROCESSES: '1',
    WRITER_PROCESSES: '1',
    DATABASE_URL: '',
    NATS_URL: '',
  };
  const child = spawn(file, args, {
    cwd: root,
    env: { ...withoutRunner(processEnv), ...own, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectOutput(child);
  let hasExited = false;
  const exited = once(child, 'exit').then(([code, signal]: (number | string)[]) => {
    hasExited = true;
    return signal ?? code ?? '';
  });
  return {
    pid: child.pid ?? fail('it could not be spawned'),
    output,
    exited,
    kill: (signal) => child.kill(signal),
    closeOutput() {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    ready: () =>
      until(() => {
        if (hasExited) throw new Error(`the system exited before it was ready:\n${output()}`);
        return output().includes('Weir is ready') && existsSync(join(dataDir, 'connection.json'));
      }, readyTimeoutMs),
  };
}

function collectOutput(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return () => output;
}

/**
 * Removes the variables of npm and of the test runner: the system must not watch the npm that runs this
 * process.
 */
function withoutRunner(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !/^(npm_|VITEST|NODE_ENV)/.test(name)),
  );
}

function fail(message: string): never {
  throw new Error(message);
}
