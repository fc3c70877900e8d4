import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import type { TestProject } from 'vitest/node';
import { migrateDatabase } from '../../lib/db/migrate.ts';
import { cacheDirectory } from '../../scripts/provision/cache-directory.ts';
import { findNatsServer } from '../../scripts/provision/nats-sources.ts';
import { startOnFreePorts } from '../../scripts/provision/ports.ts';
import { startPostgres } from '../../scripts/provision/postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The migrated database that every test's own is copied from. Nobody may stay connected to it. */
    templateDatabaseUrl: string;
    /** The nats-server that tests start. */
    natsServerBinary: string;
    /** Removed after the run, with whatever still runs in it (`<name>/pid`, `<name>/pid-*`). */
    runDirectory: string;
  }
}

/** One Postgres for the whole run, outside the checkout; each test takes a database of its own (backing.ts). */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-test-'));
  const nats = await findNatsServer({
    searchPath: env.PATH ?? '',
    cacheDir: cacheDirectory(env, join(directory, 'cache')),
    report: (step) => console.log(`${step} …`),
  });
  // When we are root, the Postgres of the tests is somebody else.
  chmodSync(directory, 0o755);
  const postgres = await startOnFreePorts(1, ([port = 0]) =>
    startPostgres({
      dataDir: join(directory, 'postgres'),
      logFile: join(directory, 'postgres.log'),
      password: 'test',
      port,
    }),
  );
  await migrateDatabase(postgres.url);
  project.provide('templateDatabaseUrl', postgres.url);
  project.provide('natsServerBinary', nats.binary);
  project.provide('runDirectory', directory);
  return async () => {
    killLeaks(directory);
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  };
}

/** A test that timed out, or whose worker crashed, has not stopped what it started. */
function killLeaks(directory: string): void {
  for (const file of globSync(join(directory, '*', '{pid,pid-*}'))) {
    console.error(`${file}: a test left its server running`);
    try {
      process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}
