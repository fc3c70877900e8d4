import { chownSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  describeExit,
  type SpawnedProcess,
  type StopSignals,
  settlesWithin,
} from '../../process/child-process.ts';
import { lastLogLines, logBytes } from '../../process/log-file.ts';
import {
  PortTakenError,
  type ServerProcess,
  type StartHooks,
  spawnServer,
} from '../../process/server-process.ts';
import { embeddedSettings } from './embedded-settings.ts';
import { locatePostgres, postgresMajor } from './postgres-binaries.ts';
import { initDatabaseDirectory } from './postgres-init.ts';
import { type ReadyOptions, waitUntilReady } from './postgres-ready.ts';
import { choosePostgresUser, type PostgresUser } from './postgres-user.ts';

export interface PostgresOptions extends StartHooks {
  /** Created when it does not exist; its parent must exist. */
  dataDir: string;
  port: number;
  /** The password of the user `weir`, set when the data directory is created. */
  password: string;
  logFile: string;
  /** Override our settings, e.g. in a test that shows the failure without them. */
  settings?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
}

/** Fast, then immediate shutdown, which needs recovery but, unlike a SIGKILL, leaves no backend. */
const stopSignals: StopSignals = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
];

/** The backends of a killed Postgres finish their current statement first. */
const predecessorWaitMs = 60_000;

/** Recovery after a crash replays at most max_wal_size, which takes far less. */
const startTimeoutMs = 300_000;

/**
 * Runs the embedded Postgres on loopback, with a user and a database `weir`. Resolves when it accepts
 * connections, after crash recovery if it is needed.
 * @throws PortTakenError when another process listens on the port.
 * @throws Error with the server's last output when it does not start.
 */
export async function startPostgres(options: PostgresOptions): Promise<ServerProcess> {
  const dataDir = resolve(options.dataDir);
  const binaries = locatePostgres();
  rejectOtherMajor(dataDir);
  const user = choosePostgresUser(dataDir, [binaries.postgres, dataDir]);
  if (!existsSync(join(dataDir, 'PG_VERSION'))) {
    await initDatabaseDirectory({ dataDir, binaries, user, password: options.password });
  }
  keepArchiveCommand(dataDir);
  const url = `postgres://weir:${options.password}@127.0.0.1:${options.port}/weir`;
  const deadline = Date.now() + predecessorWaitMs;
  for (;;) {
    const logStart = logBytes(options.logFile);
    const server = await spawnPostgres({ ...options, dataDir }, binaries.postgres, user);
    if (await isOpen(server, { url, dataDir, signal: options.signal })) {
      return { ...server, url, port: options.port, [Symbol.asyncDispose]: server.stop };
    }
    options.signal?.throwIfAborted();
    const lastOutput = lastLogLines(options.logFile, logStart);
    if (/Address already in use/.test(lastOutput)) throw new PortTakenError(`Port ${options.port} is taken.`);
    if (!hasPredecessor(lastOutput) || Date.now() > deadline) {
      throw new Error(
        `Postgres did not start (${describeExit(await server.exited)}). Its log, ${options.logFile}, ends with:\n${lastOutput}`,
      );
    }
    await sleep(100);
  }
}

/** @returns false when it has exited. */
async function isOpen(
  server: SpawnedProcess,
  options: Pick<ReadyOptions, 'url' | 'dataDir' | 'signal'>,
): Promise<boolean> {
  try {
    if (await waitUntilReady({ ...options, exited: server.exited, timeoutMs: startTimeoutMs })) return true;
  } catch (error) {
    // Another server may have responded on the port, while ours is about to exit because of it.
    if (!(await settlesWithin(server.exited, 5_000))) {
      await server.stop();
      throw error;
    }
  }
  await server.stop();
  return false;
}

function spawnPostgres(
  { dataDir, port, logFile, onSpawn, settings: changes, env }: PostgresOptions,
  binary: string,
  user: PostgresUser,
): Promise<SpawnedProcess> {
  const args = ['-D', dataDir, '-p', String(port)];
  for (const [name, value] of Object.entries({ ...embeddedSettings(), ...changes }))
    args.push('-c', `${name}=${value}`);
  const spawn = env === undefined ? user.spawn : { ...user.spawn, env: { ...process.env, ...env } };
  return spawnServer(user.command(binary, args), { logFile, stopSignals, onSpawn, spawn });
}

/** Whether processes of a killed Postgres still use the data directory. */
function hasPredecessor(lastOutput: string): boolean {
  return /pre-existing shared memory block|lock file "postmaster\.pid" already exists/.test(lastOutput);
}

function rejectOtherMajor(dataDir: string): void {
  const file = join(dataDir, 'PG_VERSION');
  if (!existsSync(file)) return;
  const major = readFileSync(file, 'utf8').trim();
  if (major === String(postgresMajor)) return;
  throw new Error(
    `${dataDir} was written by Postgres ${major}, and this version of Weir runs Postgres ${postgresMajor}. Start the version that wrote it, or set WEIR_DATA_DIR to another directory than ${dirname(dataDir)}.`,
  );
}

/**
 * Lets Postgres, which does not run, recycle its WAL until the first backup: `archive_mode=on` without a
 * command keeps all of it. ALTER SYSTEM of a backup (launcher/backup/archive.ts) overrides this file but not
 * an argument of the server.
 */
function keepArchiveCommand(dataDir: string): void {
  const file = join(dataDir, 'postgresql.conf');
  const text = readFileSync(file, 'utf8');
  if (/^archive_command\b/m.test(text)) return;
  const { uid, gid, mode } = statSync(file);
  // A power cut can leave an appended line as zeros, with which Postgres does not start.
  const draft = `${file}.new`;
  writeFileSync(
    draft,
    `${text}\n# Weir: nothing is archived until the first \`weir backup\`.\narchive_command = 'true'\n`,
    { mode, flush: true },
  );
  chownSync(draft, uid, gid);
  renameSync(draft, file);
}
