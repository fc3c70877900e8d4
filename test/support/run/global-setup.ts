import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process, { env, kill } from 'node:process';
import type { TestProject } from 'vitest/node';
import { killLeaks } from '../../../harness/system/pid-file.ts';
import { cacheDirectory } from '../../../launcher/provision/cache-directory.ts';
import { findNatsServer } from '../../../launcher/provision/nats/nats-sources.ts';
import { startOnFreePorts } from '../../../launcher/provision/ports.ts';
import { fixedSettings } from '../../../launcher/provision/postgres/embedded-settings.ts';
import { startPostgres } from '../../../launcher/provision/postgres/postgres.ts';
import { ensureRoles, urlOfRole } from '../../../launcher/provision/postgres/roles.ts';
import { compileServices } from '../../../launcher/supervise/compile-cache.ts';
import { migrateDatabase } from '../../../store/migrate/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The migrated template of all test databases. No connection to it may stay open. */
    templateDatabaseUrl: string;
    /** The nats-server program that tests start. */
    natsServerBinary: string;
    /** Node's compile cache for the processes that tests start. */
    compileCache: string;
    /**
     * Removed after the run. Processes recorded in it (`pid`, `pid-*`) that are still running then are leaks.
     */
    runDirectory: string;
  }
}

/**
 * No test kills this Postgres, so nothing needs to be on the disk: without fsync a database is dropped ten
 * times as fast. Tests of what survives a crash of Postgres start one of their own.
 */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  // Checkpoints are cheap, and the files may be in memory.
  max_wal_size: '512MB',
  // A database is dropped, and a table cut, by looking at each of these buffers.
  shared_buffers: '256MB',
  // Each of the files that run at the same time has some twenty connections.
  max_connections: '300',
  // In total as many as the embedded Postgres has: tests show that these are enough. Besides connections it
  // has 26 processes.
  max_locks_per_transaction: String(
    Math.floor(
      (Number(fixedSettings.max_locks_per_transaction) * (Number(fixedSettings.max_connections) + 26)) /
        (300 + 26),
    ),
  ),
};

/** A file system in memory, on Linux. */
const memory = { path: '/dev/shm', type: 0x01_02_19_94 };

/** What the files of Postgres may take in memory, several times what a run of all tests has at a time. */
const memoryBytesMin = 8 * 1024 ** 3;

/**
 * Makes the directory for the files of Postgres: in memory, where the system has room. A test database has
 * 600 files, and to create them in a file system on disk took 4 % of the CPU time of all tests: ext4 searches
 * all recently deleted files for each new one.
 */
function makePostgresDirectory(): string {
  const isRoomy = () => {
    const { type, bavail, bsize } = statfsSync(memory.path);
    return type === memory.type && Math.min(bavail * bsize, process.availableMemory()) >= memoryBytesMin;
  };
  const parent = existsSync(memory.path) && isRoomy() ? memory.path : tmpdir();
  return mkdtempSync(join(parent, 'weir-test-postgres-'));
}

/**
 * Starts one Postgres for the whole run, outside the checkout. Each test creates a database of its own
 * (test-servers.ts). A process that a test left running fails the run.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-test-'));
  const nats = await findNatsServer({
    searchPath: env.PATH ?? '',
    cacheDir: cacheDirectory(env, join(directory, 'cache')),
    report: (step) => console.log(`${step} …`),
  });
  const postgresDirectory = makePostgresDirectory();
  // Run as root, Postgres has another user, who must be able to pass the directory.
  chmodSync(postgresDirectory, 0o755);
  chmodSync(directory, 0o755);
  const postgres = await startOnFreePorts(1, ([port = 0]) =>
    startPostgres({
      dataDir: join(postgresDirectory, 'postgres'),
      logFile: join(directory, 'postgres.log'),
      password: 'test',
      port,
      settings,
    }),
  );
  const removeDirectories = () => {
    for (const path of [directory, postgresDirectory]) rmSync(path, { recursive: true, force: true });
  };
  // Vitest does not run the teardown when it is interrupted.
  const onExit = () => {
    killLeaks(directory);
    kill(postgres.pid, 'SIGQUIT');
    removeDirectories();
  };
  process.once('exit', onExit);
  const compileCache = join(directory, 'compile-cache');
  const cacheFilled = compileServices(compileCache);
  await ensureRoles(postgres.url);
  await migrateDatabase(urlOfRole(postgres.url, 'owner'));
  project.provide('templateDatabaseUrl', postgres.url);
  project.provide('natsServerBinary', nats.binary);
  project.provide('compileCache', compileCache);
  project.provide('runDirectory', directory);
  return async () => {
    process.removeListener('exit', onExit);
    await cacheFilled;
    const leaks = killLeaks(directory);
    await postgres.stop();
    removeDirectories();
    if (leaks.length > 0) throw new Error(`tests left processes running: ${leaks.join(', ')}`);
  };
}
