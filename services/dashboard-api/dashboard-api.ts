import { createServer, type RequestListener } from 'node:http';
import type { NatsConnection } from '@nats-io/transport-node';
import { requiredOf } from '../../platform/config/services.ts';
import { type Config, requireConfig } from '../../platform/config.ts';
import { http1Options, openHttp1 } from '../../platform/http/http1.ts';
import { createHttp2 } from '../../platform/http/http2.ts';
import type { Listener } from '../../platform/http/listener.ts';
import { serveHttp } from '../../platform/http/serve.ts';
import { createAnswerAfterBody } from '../../platform/http/unread-body.ts';
import type { Logger } from '../../platform/log.ts';
import { requireWritable } from '../../platform/queue/nats-health.ts';
import { createReadiness } from '../../platform/readiness.ts';
import type { ServiceContext, Started } from '../../platform/service.ts';
import { openAnsweringRelay } from '../../store/control/relay.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { requireSchemaOnStart } from '../../store/migrate/schema-range.ts';
import { startAlerts } from './alerts/alerts.ts';
import { installationConnectionsMax } from './installation/limits.ts';
import {
  accountConnectionsMax,
  dashboardConnectionsMax,
  dashboardQueryTimeoutMs,
  dashboardSocketsMax,
} from './limits.ts';
import { followStoredNotices } from './live/stored-notices.ts';
import { createRoutes, sendText } from './routes.ts';
import { SegmentSearcher } from './search/segment-searcher.ts';
import { openServices } from './services.ts';
import { openSso } from './sso/sso-routes.ts';
import { UnreadResponses } from './unread-responses.ts';
import { ingestUrlOf, openWeb } from './web/web-files.ts';

/**
 * tRPC over Postgres, downloads, live streams, and the pages. nats-server notifies of new events, and takes
 * administrative changes.
 * @returns the address that it listens on.
 * @throws ConfigError when a variable is missing, or a configured port or directory cannot be used.
 */
export async function startDashboard(context: ServiceContext): Promise<Started & { url: string }> {
  const { log, resources, stopping, report, shares } = context;
  const config = requireConfig(context.config, requiredOf['dashboard-api']);
  const openPool = (connectionsMax: number) =>
    resources.use(openPostgres(config.DATABASE_URL, { ...poolOptions, connectionsMax }));
  const accountPool = openPool(accountConnectionsMax);
  const findUnready = createReadiness({
    postgres: () => accountPool`SELECT 1`,
    stopping: () => stopping.throwIfAborted(),
  });
  context.setStarting(findUnready);
  await requireSchemaOnStart(accountPool, log);
  const databases = {
    spaces: openDatabase(openPool(dashboardConnectionsMax)),
    accounts: openDatabase(accountPool),
    installation: openDatabase(openPool(installationConnectionsMax)),
  };
  const control = openAnsweringRelay(databases.accounts, log);
  const searcher = resources.use(new SegmentSearcher());
  const parts = { log, relayChanges: control.relay, shares, searcher };
  const services = await openServices(databases, config, parts);
  let nats: NatsConnection | undefined;
  const onConnect = (connection: NatsConnection) => {
    nats = connection;
    control.connect(connection);
  };
  const following = { wake: services.wakeStreams, report, onConnect };
  if (config.NATS_URL !== undefined) resources.use(followStoredNotices(config.NATS_URL, following, log));
  // Pages, lists and charts need Postgres only.
  const findImpaired = createReadiness({
    nats: () => config.NATS_URL && requireWritable(nats ?? notConnected(), config),
  });
  resources.use(startAlerts(databases.spaces, config, log));
  const onRequest = createRoutes({
    services,
    findUnready,
    answerAfterBody: createAnswerAfterBody(),
    unread: resources.use(new UnreadResponses(log)),
    web: openWeb(config),
    ingestUrl: ingestUrlOf(config),
    publicUrl: config.DASHBOARD_PUBLIC_URL,
    basePath: config.DASHBOARD_BASE_PATH,
    sso: openSso(databases.accounts, config, services),
    log,
  });
  const { url } = resources.use(await serveDashboard({ onRequest, config, log, stopping }));
  // Released first, because closing the listener waits for open requests.
  resources.use(services.openStreams);
  return { url, probes: { findUnready, findImpaired } };
}

const poolOptions = { applicationName: 'weir-dashboard-api', statementTimeoutMs: dashboardQueryTimeoutMs };

function notConnected(): never {
  throw new Error('nats-server was not reached yet');
}

interface ServerOptions {
  onRequest: RequestListener;
  config: Config;
  log: Logger;
  stopping: AbortSignal;
}

/** Serves HTTP/2 to browsers with TLS; HTTP/1.1 has six connections, and each live stream takes one. */
function serveDashboard({ onRequest, config, log, stopping }: ServerOptions): Promise<Listener> {
  const http1 = openHttp1(createServer(http1Options, onRequest), stopping);
  const http2 = createHttp2(
    {
      onRequest,
      rejectHeaders: (_, response, details) => sendText(response, 431, details),
      rejectConnect(response, details) {
        response.setHeader('Allow', 'GET, POST');
        sendText(response, 405, details);
      },
    },
    stopping,
  );
  return serveHttp(
    { http1, http2 },
    { prefix: 'DASHBOARD', connectionsMax: dashboardSocketsMax, config, log },
  );
}
