import { requireConfig } from '../../lib/config.ts';
import { openPostgres } from '../../lib/db/connect.ts';
import { keyLookupTimeoutMs } from '../../lib/limits.ts';
import { describeApi } from '../../lib/openapi/document.ts';
import { payloadBytesMax } from '../../lib/queue/connect.ts';
import { runService } from '../../lib/run.ts';
import { openAcceptances } from './acceptances.ts';
import { AccessDirectory } from './access.ts';
import { followAccessChanges } from './access-changes.ts';
import { ByteBudgets } from './byte-budget.ts';
import { Committer } from './committer.ts';
import { createCors } from './cors.ts';
import { createJsonFormat } from './ingest-events.ts';
import { KeyUses } from './key-uses.ts';
import { openReaders } from './open-readers.ts';
import { openQueue } from './queue.ts';
import { Quota } from './quota.ts';
import { createReadiness } from './readiness.ts';
import { handleRequest } from './routes.ts';
import { createRpcFormats } from './rpc/formats.ts';
import { createRpcHandlers } from './rpc/handlers.ts';
import { serveIngest } from './server.ts';
import { awaitStored } from './stored-position.ts';

/** HTTP in, JetStream out. */
await runService(process, 'ingest', async ({ config: parsed, log, resources }) => {
  const config = requireConfig(parsed, ['DATABASE_URL', 'NATS_URL', 'API_KEY_PEPPER']);
  const sql = resources.use(
    openPostgres(config.DATABASE_URL, {
      applicationName: 'weir-ingest',
      connectionsMax: 4,
      statementTimeoutMs: keyLookupTimeoutMs,
    }),
  );
  const { nats, manager, publisher } = await openQueue(config, { log, resources });
  const directory = new AccessDirectory(sql, config.API_KEY_PEPPER);
  resources.use(followAccessChanges(config.DATABASE_URL, directory, log));
  const committer = resources.use(new Committer(publisher.publish, payloadBytesMax(nats), log));
  const findUnready = createReadiness(sql, nats, publisher);
  const stopping = new AbortController();
  const readers = resources.use(openReaders(config.VENDOR));
  const batches = {
    directory,
    keyUses: resources.use(new KeyUses(sql, log)),
    quota: new Quota({
      sql,
      awaitStored: (position) => awaitStored(manager, position),
      exchange: openAcceptances(nats),
    }),
    budgets: new ByteBudgets(config.INGEST_BYTES_IN_FLIGHT_MAX),
    committer,
    jsonFormat: createJsonFormat(readers),
    rpcFormat: createRpcFormats(readers),
    log,
  };
  const routing = {
    ...batches,
    rpcHandlers: createRpcHandlers(batches, { findUnready, stopping: stopping.signal }),
    openApiJson: JSON.stringify(describeApi(config.VENDOR)),
    findUnready,
    cors: createCors(config.INGEST_ALLOWED_ORIGINS),
  };
  const server = resources.use(
    await serveIngest((request, response) => void handleRequest(routing, request, response), config, log),
  );
  // First of all: who watches our health is told that we go, and lets go of the connection.
  resources.defer(() => stopping.abort());
  return { url: server.url };
});
