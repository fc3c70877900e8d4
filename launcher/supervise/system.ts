import { rmSync } from 'node:fs';
import { writePrivateJson } from '../data-directory/json-file.ts';
import type { Connection } from '../local-system.ts';
import { rotateLogFiles } from '../process/log-rotation.ts';
import { buildWeb } from '../provision/web/web-build.ts';
import { logLines } from '../terminal/progress.ts';
import { compileServices } from './compile-cache.ts';
import { startServers } from './embedded-servers.ts';
import { countProcesses, labelsOf, limitToSystem } from './process-counts.ts';
import { watchRestores } from './restores.ts';
import { startServices } from './services.ts';
import type { StartContext } from './start-context.ts';

/**
 * Starts everything in order: Postgres, nats-server, the schema, the first access, the services, and pushes
 * it onto `context.resources`. connection.json exists exactly while the system is ready.
 */
export async function startSystem(context: StartContext): Promise<Connection> {
  const { config, data, progress, resources, signal, tasks } = context;
  const counts = await limitToSystem(countProcesses(config), (line) => progress.note(line));
  const logFiles = ['postgres', 'nats-server', ...labelsOf(counts)].map((label) => data.logFile(label));
  resources.use(rotateLogFiles(logFiles, logLines(progress.note)));
  // Concurrently with the servers: a build takes seconds when the pages have changed.
  const building = buildWeb({ cacheDir: context.cacheDir, signal });
  building.catch(() => {});
  const compiling = compileServices(context.emptyCompileCache, signal);
  compiling.catch(() => {});
  const { databaseUrlOf, natsEnv } = await startServers(context);
  const databaseUrl = databaseUrlOf('owner');
  signal.throwIfAborted();
  // The preflight checks have migrated the operator's own database.
  if (config.DATABASE_URL === undefined) {
    await progress.step('schema', () => tasks.run('migrateDatabase', databaseUrl));
  }
  const pepper = config.API_KEY_PEPPER ?? data.secrets.apiKeyPepper;
  const access = await progress.step('first space, API key and owner', () =>
    tasks.run('ensureFirstAccess', { file: data.file('first-run.json'), databaseUrl, pepper }),
  );
  const web = await progress.step('pages of the dashboard', () => building);
  await compiling;
  const shared = {
    ...context.env,
    ...natsEnv,
    API_KEY_PEPPER: pepper,
    WEIR_DATA_DIR: data.path,
    DASHBOARD_WEB_DIR: config.DASHBOARD_WEB_DIR ?? web.directory,
  };
  const urls = await progress.step('services', () =>
    startServices(context, counts, { shared, databaseUrlOf }),
  );
  signal.throwIfAborted();
  if (config.DATABASE_URL === undefined) {
    const held = ['postgres', ...labelsOf(counts, ['writer', 'dashboard-api'])];
    resources.use(watchRestores(context, held, natsEnv.NATS_URL));
  }
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
