import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { type Config, requireConfig } from '../../lib/config.ts';
import { openPostgres } from '../../lib/db/connect.ts';
import { dashboardConnectionsMax, dashboardQueryTimeoutMs } from '../../lib/limits.ts';
import { runService } from '../../lib/run.ts';
import { openServer } from './server.ts';
import { openServices } from './services.ts';

await runService(process, 'dashboard-api', async ({ config, log, resources }) => {
  const { DATABASE_URL, DASHBOARD_HOST, DASHBOARD_PORT } = requireConfig(config, ['DATABASE_URL']);
  const sql = resources.use(
    openPostgres(DATABASE_URL, {
      applicationName: 'weir-dashboard-api',
      connectionsMax: dashboardConnectionsMax,
      statementTimeoutMs: dashboardQueryTimeoutMs,
    }),
  );
  const services = await openServices(sql);
  const server = resources.use(
    await openServer({
      services,
      sql,
      log,
      host: DASHBOARD_HOST,
      port: DASHBOARD_PORT,
      tls: await readTls(config),
    }),
  );
  return { url: server.url };
});

async function readTls({ TLS_CERT_FILE, TLS_KEY_FILE }: Config) {
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) return undefined;
  const [cert, key] = await Promise.all([readFile(TLS_CERT_FILE, 'utf8'), readFile(TLS_KEY_FILE, 'utf8')]);
  return { cert, key };
}
