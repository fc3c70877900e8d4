import { rmSync } from 'node:fs';
import { fillLedger, isLedgerComplete } from '../../lib/db/ledger-fill.ts';
import { migrateDatabase } from '../../lib/db/migrate.ts';
import type { Connection } from '../../lib/local-system.ts';
import { writePrivateJson } from '../data-directory/json-file.ts';
import { ensureFirstAccess } from '../first-run.ts';
import { rotateLogFiles } from '../process/log-rotation.ts';
import { buildWeb } from '../provision/web/web-build.ts';
import { startServers } from './embedded-servers.ts';
import type { StartContext } from './start-context.ts';
import { type SupervisedService, superviseServices } from './supervised-services.ts';

const processes = ['postgres', 'nats-server', 'writer', 'ingest', 'dashboard-api'];

/**
 * Starts everything in order: Postgres, nats-server, the schema, the first access, the services; the writer last. Everything started is
 * pushed onto `context.resources`. connection.json exists exactly while the system is ready.
 */
export async function startSystem(context: StartContext): Promise<Connection> {
  const { config, data, progress, resources, signal } = context;
  resources.use(rotateLogFiles(processes.map((name) => data.logFile(name))));
  // Beside the servers: it takes seconds when the pages have changed.
  const building = buildWeb({ cacheDir: context.cacheDir, signal });
  building.catch(() => {});
  const servers = await startServers(context);
  signal.throwIfAborted();
  // The operator's own database was migrated by the preflight checks.
  if (config.DATABASE_URL === undefined) {
    await progress.step('schema', () => migrateDatabase(servers.DATABASE_URL));
  }
  const pepper = config.API_KEY_PEPPER ?? data.secrets.apiKeyPepper;
  const access = await progress.step('first space, API key and owner', () =>
    ensureFirstAccess({ file: data.file('first-run.json'), databaseUrl: servers.DATABASE_URL, pepper }),
  );
  const web = await progress.step('pages of the dashboard', () => building);
  const env = {
    ...context.env,
    ...servers,
    API_KEY_PEPPER: pepper,
    WEIR_DATA_DIR: data.path,
    DASHBOARD_WEB_DIR: config.DASHBOARD_WEB_DIR ?? web.directory,
  };
  const urls = await startServices(context, env);
  signal.throwIfAborted();
  const connection = {
    ...urls,
    ...access,
    natsUrl: servers.NATS_URL,
    databaseUrl: servers.DATABASE_URL,
  };
  resources.defer(() => rmSync(data.file('connection.json'), { force: true }));
  writePrivateJson(data.file('connection.json'), connection);
  return connection;
}

/** A writer starts when the ledger holds the ids of all stored events. Where they have to be copied, ingest starts before. */
async function startServices(
  context: StartContext,
  env: Record<string, string | undefined> & { DATABASE_URL: string },
): Promise<Pick<Connection, 'ingestUrl' | 'dashboardUrl'>> {
  const { progress, signal } = context;
  const writer = { name: 'writer', env } as const;
  const isComplete = await isLedgerComplete(env.DATABASE_URL);
  const { ingest, dashboard } = await progress.step('services', () =>
    startListening(context, env, isComplete ? [writer] : []),
  );
  if (!ingest?.url || !dashboard?.url) throw new Error('a service did not report its URL');
  if (!isComplete) {
    await progress.step('ids of stored events', (showDetail) =>
      fillLedger(env.DATABASE_URL, {
        report: ({ copied, total }) =>
          showDetail(`${copied.toLocaleString('en')} of about ${total.toLocaleString('en')}`),
        signal,
      }),
    );
    await progress.step('writer', () => superviseServices(context, [writer]));
  }
  return { ingestUrl: ingest.url, dashboardUrl: dashboard.url };
}

/** The dashboard tells people the address of ingest. A free port is known when ingest listens, so the dashboard waits for it. */
async function startListening(
  context: StartContext,
  env: Record<string, string | undefined>,
  others: readonly SupervisedService[],
) {
  const { config } = context;
  const ingestService = { name: 'ingest', env, portVariable: 'INGEST_PORT' } as const;
  const dashboardService = { name: 'dashboard-api', env, portVariable: 'DASHBOARD_PORT' } as const;
  if (config.INGEST_PORT !== 0 || config.INGEST_URL !== undefined) {
    const [ingest, dashboard] = await superviseServices(context, [
      ingestService,
      dashboardService,
      ...others,
    ]);
    return { ingest, dashboard };
  }
  const [ingest] = await superviseServices(context, [ingestService, ...others]);
  const [dashboard] = await superviseServices(context, [
    { ...dashboardService, env: { ...env, INGEST_URL: ingest?.url } },
  ]);
  return { ingest, dashboard };
}
