import { rmSync } from 'node:fs';
import type { Connection } from '../../lib/connection.ts';
import { migrateDatabase } from '../../lib/db/migrate.ts';
import { type BackingEnv, startBacking } from './backing.ts';
import type { StartContext } from './context.ts';
import { ensureFirstAccess } from './first-run.ts';
import { writePrivateJson } from './json-file.ts';
import { keepServices } from './keep-service.ts';
import { boundLogFiles } from './log-files.ts';

const processes = ['postgres', 'nats-server', 'writer', 'ingest', 'dashboard-api'];

/**
 * Starts everything in order: Postgres, nats-server, the schema, the first access, the services. What is started is on
 * the context's stack, and connection.json is there exactly as long as the system is ready.
 */
export async function runSystem(context: StartContext): Promise<Connection> {
  const { config, data, progress, resources, signal } = context;
  resources.use(boundLogFiles(processes.map((name) => data.logFile(name))));
  const backing = await startBacking(context);
  signal.throwIfAborted();
  // Your own database has been migrated when it was checked.
  if (config.DATABASE_URL === undefined) {
    await progress.step('schema', () => migrateDatabase(backing.DATABASE_URL));
  }
  const pepper = config.API_KEY_PEPPER ?? data.secrets.apiKeyPepper;
  const access = await progress.step('first space, API key and owner', () =>
    ensureFirstAccess({ file: data.file('first-run.json'), databaseUrl: backing.DATABASE_URL, pepper }),
  );
  const urls = await progress.step('services', () => startServices(context, backing, pepper));
  signal.throwIfAborted();
  const connection = {
    ...urls,
    ...access,
    natsUrl: backing.NATS_URL,
    databaseUrl: backing.DATABASE_URL,
  };
  resources.defer(() => rmSync(data.file('connection.json'), { force: true }));
  writePrivateJson(data.file('connection.json'), connection);
  return connection;
}

async function startServices(
  context: StartContext,
  backing: BackingEnv,
  pepper: string,
): Promise<Pick<Connection, 'ingestUrl' | 'dashboardUrl'>> {
  const env = { ...context.env, ...backing, API_KEY_PEPPER: pepper, WEIR_DATA_DIR: context.data.path };
  const [ingest, dashboard] = await keepServices(context, [
    { name: 'ingest', env, portVariable: 'INGEST_PORT' },
    { name: 'dashboard-api', env, portVariable: 'DASHBOARD_PORT' },
    { name: 'writer', env },
  ]);
  if (!ingest?.url || !dashboard?.url) throw new Error('a service did not say where it listens');
  return { ingestUrl: ingest.url, dashboardUrl: dashboard.url };
}
