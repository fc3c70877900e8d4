import process from 'node:process';
import { requireConfig } from '../../lib/config.ts';
import { openPostgres } from '../../lib/db/connect.ts';
import { openDatabase } from '../../lib/db/database.ts';
import { createReadiness } from '../../lib/http/readiness.ts';
import { createAnswerAfterBody } from '../../lib/http/unread-body.ts';
import { runService } from '../../lib/service.ts';
import { dashboardConnectionsMax, dashboardQueryTimeoutMs } from './limits.ts';
import { followStoredNotices } from './live/stored-notices.ts';
import { createRoutes } from './routes.ts';
import { serveDashboard } from './server.ts';
import { openServices } from './services.ts';
import { openSso } from './sso/open-sso.ts';
import { openWeb } from './web/open-web.ts';

/** tRPC over Postgres, and the pages. From nats-server it only hears when to look for new events. */
await runService(process, 'dashboard-api', async ({ config: parsed, log, resources }) => {
  const config = requireConfig(parsed, ['DATABASE_URL', 'API_KEY_PEPPER']);
  const sql = resources.use(
    openPostgres(config.DATABASE_URL, {
      applicationName: 'weir-dashboard-api',
      connectionsMax: dashboardConnectionsMax,
      statementTimeoutMs: dashboardQueryTimeoutMs,
    }),
  );
  const database = openDatabase(sql);
  const services = await openServices(database, {
    pepper: config.API_KEY_PEPPER,
    newSpace: { monthlyEventLimit: config.NEW_SPACE_MONTHLY_EVENTS ?? null },
    ssoName: config.OIDC_ISSUER === undefined ? undefined : config.OIDC_NAME,
    trustedProxies: config.TRUSTED_PROXIES,
    log,
  });
  if (config.NATS_URL !== undefined)
    resources.use(followStoredNotices(config.NATS_URL, services.wakeStreams, log));
  const onRequest = createRoutes({
    services,
    findUnready: createReadiness({ postgres: () => sql`SELECT 1` }),
    answerAfterBody: createAnswerAfterBody(),
    web: openWeb(config),
    sso: openSso(database, config, services),
    log,
  });
  const { url } = resources.use(await serveDashboard({ onRequest, config, log }));
  // Released first: the listener waits for the requests that have begun.
  resources.use(services.openStreams);
  return { url };
});
