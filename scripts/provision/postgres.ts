import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  describeExit,
  type EmbeddedProcess,
  lastLogLines,
  logLength,
  PortTakenError,
  type SpawnedProcess,
  type StartHooks,
  type StopSignals,
  settlesWithin,
  spawnServer,
} from './embedded-process.ts';
import { choosePostgresAccount, type PostgresAccount } from './postgres-account.ts';
import { locatePostgres, postgresMajor } from './postgres-binaries.ts';
import { initDatabaseDirectory } from './postgres-init.ts';
import { openWeirDatabase, type ReadyOptions } from './postgres-ready.ts';

export interface PostgresOptions extends StartHooks {
  /** Made when it is not there; its parent must exist. */
  dataDir: string;
  port: number;
  /** Of the user `weir`. It counts when the data directory is made; later ones must be the same. */
  password: string;
  logFile: string;
  /** In place of ours, e.g. to show what they are good for. */
  settings?: Readonly<Record<string, string>>;
}

/**
 * Fast shutdown first; immediate shutdown leaves a recovery to the next start, but no backend behind, which a SIGKILL
 * of the first process would.
 */
const stopSignals: StopSignals = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
];

/** Backends of a killed Postgres finish their statement first; a start waits this long for them to be gone. */
const predecessorWaitMs = 60_000;

/** Recovery after a crash replays at most max_wal_size; this is far more than that takes. */
const startTimeoutMs = 300_000;

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '256MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // One server without replicas: the WAL needs to carry what a crash needs, and no more.
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Bulk writing with the default of 1 GB checkpoints all the time, and every checkpoint doubles the WAL.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  // Our statements are short: compiling them costs more than it saves.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
};

/**
 * Runs the embedded Postgres on a data directory, on loopback only, with a user and a database `weir`. Resolves when it
 * accepts connections, recovery after a crash included.
 *
 * @throws PortTakenError when somebody else listens on the port.
 * @throws Error with the server's own last words when it does not start.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedProcess> {
  const dataDir = resolve(options.dataDir);
  const binaries = locatePostgres();
  refuseOtherMajor(dataDir);
  const account = choosePostgresAccount(dataDir, [binaries.postgres, dataDir]);
  if (!existsSync(join(dataDir, 'PG_VERSION'))) {
    await initDatabaseDirectory({ dataDir, binaries, account, password: options.password });
  }
  const url = `postgres://weir:${options.password}@127.0.0.1:${options.port}/weir`;
  const deadline = Date.now() + predecessorWaitMs;
  for (;;) {
    const logStart = logLength(options.logFile);
    const server = await spawnPostgres({ ...options, dataDir }, binaries.postgres, account);
    if (await isOpen(server, { url, dataDir, signal: options.signal })) {
      return { ...server, url, port: options.port, [Symbol.asyncDispose]: server.stop };
    }
    options.signal?.throwIfAborted();
    const lastWords = lastLogLines(options.logFile, logStart);
    if (/Address already in use/.test(lastWords)) throw new PortTakenError(`Port ${options.port} is taken.`);
    if (!hasPredecessor(lastWords) || Date.now() > deadline) {
      throw new Error(
        `Postgres did not start (${describeExit(await server.exited)}). Its log, ${options.logFile}, ends with:\n${lastWords}`,
      );
    }
    await sleep(100);
  }
}

/** Whether the server is ready; when it is not, it has ended. */
async function isOpen(
  server: SpawnedProcess,
  options: Pick<ReadyOptions, 'url' | 'dataDir' | 'signal'>,
): Promise<boolean> {
  try {
    if (await openWeirDatabase({ ...options, exited: server.exited, timeoutMs: startTimeoutMs })) return true;
  } catch (error) {
    // Somebody else's server may have answered on the port, while ours is about to give up on it.
    if (!(await settlesWithin(server.exited, 5_000))) {
      await server.stop();
      throw error;
    }
  }
  await server.stop();
  return false;
}

function spawnPostgres(
  { dataDir, port, logFile, onSpawn, settings: changes }: PostgresOptions,
  binary: string,
  account: PostgresAccount,
): Promise<SpawnedProcess> {
  const args = ['-D', dataDir, '-p', String(port)];
  for (const [name, value] of Object.entries({ ...settings, ...changes }))
    args.push('-c', `${name}=${value}`);
  return spawnServer(account.command(binary, args), { logFile, stopSignals, onSpawn, spawn: account.spawn });
}

/** Whether the server gave way to the rest of one that was killed. */
function hasPredecessor(lastWords: string): boolean {
  return /pre-existing shared memory block|lock file "postmaster\.pid" already exists/.test(lastWords);
}

function refuseOtherMajor(dataDir: string): void {
  const file = join(dataDir, 'PG_VERSION');
  if (!existsSync(file)) return;
  const major = readFileSync(file, 'utf8').trim();
  if (major === String(postgresMajor)) return;
  throw new Error(
    `${dataDir} was written by Postgres ${major}, and this Weir runs Postgres ${postgresMajor}. Start the Weir that wrote it, or set WEIR_DATA_DIR to another directory than ${dirname(dataDir)}.`,
  );
}
