import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import postgres from 'postgres';
import { inject } from 'vitest';
import { createCitusDatabase } from '../../harness/system/citus-database.ts';
import { writePidFile } from '../../harness/system/pid-file.ts';
import { type NatsServer, startNatsServer } from '../../launcher/provision/nats/nats-server.ts';
import { startOnFreePorts } from '../../launcher/provision/ports.ts';

let databases = 0;

/**
 * Creates an empty database for one test, migrated unless another `template` is given. Its URL is the
 * superuser's. Disposing drops the database and closes all connections to it.
 *
 * WEIR_TEST_DATABASES_URL lets any test run on a Citus cluster, whose coordinator it names, with distributed
 * tables.
 */
export async function createDatabase(
  options: { template?: string } = {},
): Promise<{ url: string } & AsyncDisposable> {
  const clusterUrl = env.WEIR_TEST_DATABASES_URL;
  if (clusterUrl !== undefined && options.template === undefined)
    return createCitusDatabase(clusterUrl, { withRoles: true });
  const template = new URL(inject('templateDatabaseUrl'));
  const name = `test_${process.pid}_${Date.now().toString(36)}_${++databases}`;
  await administer(
    template,
    // Copying the files takes a third of the CPU time of logging their blocks.
    (sql) =>
      sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(options.template ?? 'weir')} STRATEGY FILE_COPY OWNER weir_owner`,
  );
  const url = new URL(template);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () =>
      administer(template, (sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`),
  };
}

/**
 * Starts a nats-server for one test, with an empty store. Tests can kill it by its `pid`; `restart` starts it
 * again with the same port and store, as the supervisor does.
 */
export async function startNats(
  options: { syncInterval?: string; maxFileBytes?: number } = {},
): Promise<NatsServer & { storeDir: string; restart(): Promise<NatsServer> }> {
  const directory = mkdtempSync(join(inject('runDirectory'), 'nats-'));
  const storeDir = join(directory, 'store');
  const start = (port: number, monitorPort: number) =>
    startNatsServer({
      maxFileBytes: 1024 ** 3,
      ...options,
      binary: inject('natsServerBinary'),
      storeDir,
      logFile: join(directory, 'nats-server.log'),
      password: 'test',
      port,
      monitorPort,
      onSpawn: (pid) => writePidFile(join(directory, 'pid'), pid),
    });
  let running = await startOnFreePorts(2, ([port = 0, monitorPort = 0]) => start(port, monitorPort));
  const monitorPort = Number(new URL(running.monitorUrl).port);
  const dispose = async () => {
    await running.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  return {
    ...running,
    storeDir,
    restart: async () => {
      running = await start(running.port, monitorPort);
      return running;
    },
    [Symbol.asyncDispose]: dispose,
  };
}

async function administer(template: URL, run: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
  const maintenance = new URL(template);
  maintenance.pathname = '/postgres';
  const sql = postgres(maintenance.href, { max: 1, onnotice: () => {} });
  try {
    await run(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
