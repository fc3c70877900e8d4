import { rmSync } from 'node:fs';
import type { Connection } from '../../lib/local-system.ts';
import { migrateDatabase } from '../../lib/migrate/migrate.ts';
import { writePrivateJson } from '../data-directory/json-file.ts';
import { ensureFirstAccess } from '../first-run.ts';
import { rotateLogFiles } from '../process/log-rotation.ts';
import { buildWeb } from '../provision/web/web-build.ts';
import { type Servers, startServers } from './embedded-servers.ts';
import { watchRestores } from './restores.ts';
import { type ServiceName, serviceNames } from './service-process.ts';
import type { StartContext } from './start-context.ts';
import { superviseServices } from './supervised-services.ts';

const processes = ['postgres', 'nats-server', 'writer', 'ingest', 'dashboard-api'];

/**
 * Starts everything in order: Postgres, nats-server, the schema, the first access, the services. Everything started is pushed onto
 * `context.resources`. connection.json exists exactly while the system is ready.
 */
export async function startSystem(context: StartContext): Promise<Connection> {
  const { config, data, progress, resources, signal } = context;
  resources.use(rotateLogFiles(processes.map((name) => data.logFile(name))));
  // Concurrently with the servers: a build takes seconds when the pages have changed.
  const building = buildWeb({ cacheDir: context.cacheDir, signal });
  building.catch(() => {});
  const { databaseUrlOf, natsEnv } = await startServers(context);
  const databaseUrl = databaseUrlOf('owner');
  signal.throwIfAborted();
  // The operator's own database was migrated by the preflight checks.
  if (config.DATABASE_URL === undefined) {
    await progress.step('schema', () => migrateDatabase(databaseUrl));
  }
  const pepper = config.API_KEY_PEPPER ?? data.secrets.apiKeyPepper;
  const access = await progress.step('first space, API key and owner', () =>
    ensureFirstAccess({ file: data.file('first-run.json'), databaseUrl, pepper }),
  );
  const web = await progress.step('pages of the dashboard', () => building);
  const env = {
    ...context.env,
    ...natsEnv,
    API_KEY_PEPPER: pepper,
    WEIR_DATA_DIR: data.path,
    DASHBOARD_WEB_DIR: config.DASHBOARD_WEB_DIR ?? web.directory,
  };
  const urls = await progress.step('services', () => startServices(context, env, databaseUrlOf));
  signal.throwIfAborted();
  if (config.DATABASE_URL === undefined) resources.use(watchRestores(context, natsEnv.NATS_URL));
  const connection = {
    ...urls,
    ...access,
    natsUrl: natsEnv.NATS_URL,
    natsMonitorUrl: natsEnv.NATS_MONITOR_URL,
    databaseUrl,
  };
  resources.defer(() => rmSync(data.file('connection.json'), { force: true }));
  writePrivateJson(data.file('connection.json'), connection);
  return connection;
}

/** Services on one machine need a port each: METRICS_PORT and the two after it. Without it they choose. */
function metricsPortOf({ METRICS_PORT: first }: StartContext['config'], name: ServiceName) {
  if (!first) return {};
  return { METRICS_PORT: String(first + serviceNames.indexOf(name)) };
}

/** The dashboard shows the address of ingest. With INGEST_PORT=0 it is known only once ingest listens: the dashboard then waits. */
async function startServices(
  context: StartContext,
  shared: Record<string, string | undefined>,
  databaseUrlOf: Servers['databaseUrlOf'],
): Promise<Pick<Connection, 'ingestUrl' | 'dashboardUrl'>> {
  const { config } = context;
  const serviceOf = <Name extends ServiceName>(name: Name) => ({
    name,
    env: { ...shared, ...metricsPortOf(config, name), DATABASE_URL: databaseUrlOf(name) },
  });
  const ingestService = { ...serviceOf('ingest'), portVariable: 'INGEST_PORT' } as const;
  const dashboardService = { ...serviceOf('dashboard-api'), portVariable: 'DASHBOARD_PORT' } as const;
  const isAddressKnown = config.INGEST_PORT !== 0 || config.INGEST_URL !== undefined;
  const [ingest, , first] = await superviseServices(context, [
    ingestService,
    serviceOf('writer'),
    ...(isAddressKnown ? [dashboardService] : []),
  ]);
  const [dashboard] = isAddressKnown
    ? [first]
    : await superviseServices(context, [
        { ...dashboardService, env: { ...dashboardService.env, INGEST_URL: ingest?.url } },
      ]);
  if (!ingest?.url || !dashboard?.url) throw new Error('a service did not report its URL');
  return { ingestUrl: ingest.url, dashboardUrl: dashboard.url };
}
