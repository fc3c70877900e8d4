import type { RequestListener } from 'node:http';
import { requiredOf } from '../../platform/config/services.ts';
import { type Config, requireConfig } from '../../platform/config.ts';
import { createAnswerAfterBody } from '../../platform/http/unread-body.ts';
import type { Logger } from '../../platform/log.ts';
import { answerDiscovery } from '../../platform/queue/service-discovery.ts';
import { createReadiness, type FindUnready } from '../../platform/readiness.ts';
import type { ServiceContext, Started } from '../../platform/service.ts';
import { openOwnSpans } from '../../platform/tracing/own-spans.ts';
import { openCheckedClock } from '../../store/db/clock.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { requireSchemaOnStart } from '../../store/migrate/schema-range.ts';
import { openBatchDependencies } from './batch-dependencies.ts';
import { detachBuffer } from './body/detach-buffer.ts';
import { openQueue } from './commit/queue.ts';
import { keyLookupTimeoutMs, limitsOfProcess } from './limits.ts';
import { describeApi } from './openapi/document.ts';
import { exportOverRpc, signals } from './otlp/export.ts';
import { createRespondExportError } from './otlp/respond/respond.ts';
import { createIngestReadiness } from './readiness.ts';
import { createCors } from './respond/cors.ts';
import { FailureLog } from './respond/failure-log.ts';
import { createRespondError } from './respond/respond-error.ts';
import { handleRequest } from './routes.ts';
import { createRpcHandlers, type RpcHandler } from './rpc/handlers.ts';
import { createHealth } from './rpc/health.ts';
import { createRespondRpcError } from './rpc/respond.ts';
import { serveIngest } from './server.ts';

/**
 * Starts ingest: HTTP in, JetStream out.
 * @throws ConfigError when a variable is missing, nats-server cannot store the queue, or a port cannot be
 * used.
 */
export async function startIngest(context: ServiceContext): Promise<Started & { url: string }> {
  const { log, resources, stopping, setStarting, report, shares } = context;
  const config = requireConfig(context.config, requiredOf.ingest);
  const sql = resources.use(
    openPostgres(config.DATABASE_URL, {
      applicationName: 'weir-ingest',
      connectionsMax: 4,
      statementTimeoutMs: keyLookupTimeoutMs,
    }),
  );
  setStarting(createReadiness({ postgres: () => sql`SELECT 1` }));
  await requireSchemaOnStart(sql, log);
  const database = openDatabase(sql);
  const clock = resources.use(await openCheckedClock(database, log));
  const queue = await openQueue(config, { log, resources });
  const queueStreams = queue.streams.map(({ name }) => name);
  answerDiscovery(queue.nats, () => ({ ...report(), queueStreams }));
  const ownSpans = await openOwnSpans('ingest', config);
  if (ownSpans !== undefined) resources.use(ownSpans);
  const processes = config.INGEST_PROCESSES ?? 1;
  const limits = limitsOfProcess(processes, config.INGEST_BYTES_IN_FLIGHT_MAX);
  const batches = openBatchDependencies({
    ...{ config, database, clock, queue, ownSpans, limits, shares, log, resources },
  });
  const failures = resources.use(new FailureLog(log));
  const findUnready = createIngestReadiness({ sql, config, clock, stopping, ...queue });
  const health = createHealth(findUnready);
  const routing = createRouting({ batches, failures, findUnready, health, config, log });
  const onRequest: RequestListener = (request, response) => void handleRequest(routing, request, response);
  const { respondError, unauthenticated } = routing;
  const listening = { connectionsMax: limits.connectionsMax, isShared: processes > 1 };
  const { url } = resources.use(
    await serveIngest({ onRequest, respondError, unauthenticated, listening, config, log, stopping }),
  );
  // Runs first on shutdown: ends Health.Watch streams.
  resources.use(health);
  return { url, probes: { findUnready } };
}

/** What each protocol and route needs to respond. */
function createRouting(options: {
  batches: ReturnType<typeof openBatchDependencies>;
  failures: FailureLog;
  findUnready: FindUnready;
  health: ReturnType<typeof createHealth>;
  config: Config;
  log: Logger;
}) {
  const { batches, failures, findUnready, health, config, log } = options;
  const answerAfterBody = createAnswerAfterBody(detachBuffer);
  const respondRpcError = createRespondRpcError(answerAfterBody, failures);
  const exporting = {
    ...batches,
    answerAfterBody,
    respondExportError: createRespondExportError(answerAfterBody, failures),
  };
  const exportRpcs = Object.values(signals).map((signal): [string, RpcHandler] => {
    const handle = exportOverRpc(signal);
    return [signal.rpcPath, (request, response) => handle(exporting, request, response)];
  });
  return {
    ...exporting,
    rpcHandlers: new Map([...createRpcHandlers({ ...batches, respondRpcError }, health), ...exportRpcs]),
    openApiJson: JSON.stringify(describeApi(config.WEIR_VENDOR)),
    findUnready,
    cors: createCors(config.INGEST_ALLOWED_ORIGINS),
    respondError: createRespondError(answerAfterBody, failures, log),
    respondRpcError,
  };
}
