import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { inject } from 'vitest';
import { type NatsServer, startNatsServer } from '../../scripts/provision/nats-server.ts';
import { startOnFreePorts } from '../../scripts/provision/ports.ts';

let databases = 0;

/** A migrated, empty database of the test's own. Disposing it drops it, whoever is still connected. */
export async function createDatabase(): Promise<{ url: string } & AsyncDisposable> {
  const template = new URL(inject('templateDatabaseUrl'));
  const name = `test_${process.pid}_${Date.now().toString(36)}_${++databases}`;
  await administer(template, (sql) => sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql('weir')}`);
  const url = new URL(template);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () =>
      administer(template, (sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`),
  };
}

/**
 * A nats-server of the test's own, with an empty store. `pid` and `stop` let a test kill it; `restart` starts it again
 * on the same port and store, as the supervisor does.
 */
export async function startNats(): Promise<
  NatsServer & { storeDir: string; restart(): Promise<NatsServer> }
> {
  const directory = mkdtempSync(join(inject('runDirectory'), 'nats-'));
  const storeDir = join(directory, 'store');
  const start = (port: number, monitorPort: number) =>
    startNatsServer({
      binary: inject('natsServerBinary'),
      storeDir,
      logFile: join(directory, 'nats-server.log'),
      password: 'test',
      maxFileBytes: 1024 ** 3,
      port,
      monitorPort,
      onSpawn: (pid) => writeFileSync(join(directory, 'pid'), String(pid)),
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
