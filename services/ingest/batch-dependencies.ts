import type { ConfigWith } from '../../platform/config.ts';
import { ConnectionShares } from '../../platform/http/connection-shares.ts';
import { bodyBytesMax, otlpBodyBytesMax } from '../../platform/limits.ts';
import type { Logger } from '../../platform/log.ts';
import type { SpaceShares } from '../../platform/metrics/space-metrics.ts';
import { payloadBytesMax } from '../../platform/queue/connect.ts';
import type { OwnSpans } from '../../platform/tracing/own-spans.ts';
import type { CheckedClock } from '../../store/db/clock.ts';
import type { Database } from '../../store/db/database.ts';
import { followAccessChanges } from './admit/access-changes.ts';
import { ApiKeyCache } from './admit/api-key-cache.ts';
import { KeyUses } from './admit/key-uses.ts';
import { Quota } from './admit/quota.ts';
import { openQuotaUsageBroadcast } from './admit/quota-usage-broadcast.ts';
import { openStoredPosition } from './admit/stored-position.ts';
import { Unauthenticated } from './admit/unauthenticated.ts';
import { BufferPool } from './body/buffer-pool.ts';
import { ByteBudgets } from './body/byte-budget.ts';
import { createBodyDecoder } from './body/decode.ts';
import { Committer } from './commit/committer.ts';
import type { openQueue } from './commit/queue.ts';
import type { ProcessLimits } from './limits.ts';
import { registerBudgetMetrics } from './metrics.ts';
import { openMediaUploads } from './otlp/media/media-doors.ts';
import { SenderLog } from './otlp/sender-log.ts';
import { SpanCounter } from './otlp/span-counter.ts';
import { openRequestTraces } from './request-traces.ts';
import { createBareDecoder, createDecoders } from './rpc/decoders.ts';
import { openReaders } from './worker/readers.ts';

/**
 * Acquires what all protocols need to ingest batches: keys, quotas, memory budgets, readers and the
 * committer. Everything that must be released is added to `resources`.
 */
export function openBatchDependencies(options: {
  config: ConfigWith<'DATABASE_URL' | 'API_KEY_PEPPER'>;
  database: Database;
  clock: CheckedClock;
  queue: Awaited<ReturnType<typeof openQueue>>;
  ownSpans: OwnSpans | undefined;
  limits: ProcessLimits;
  shares: SpaceShares;
  log: Logger;
  resources: AsyncDisposableStack;
}) {
  const { config, database, clock, queue, ownSpans, limits, shares, log, resources } = options;
  const { nats, manager, streams, publisher } = queue;
  const apiKeyCache = new ApiKeyCache(database, config.API_KEY_PEPPER);
  resources.use(followAccessChanges(config.DATABASE_URL, apiKeyCache, log));
  const committer = resources.use(new Committer(publisher.publish, payloadBytesMax(nats), log));
  const readers = resources.use(openReaders(config.WEIR_VENDOR));
  const budgets = new ByteBudgets(limits.bytesInFlightMax);
  registerBudgetMetrics(budgets);
  const buffers = new BufferPool();
  const decodeBody = createBodyDecoder(buffers, limits.decodesAtOnceMax);
  const events = { bodyBytesMax, decodeBody };
  const spans = { bodyBytesMax: otlpBodyBytesMax, decodeBody };
  return {
    clock,
    apiKeyCache,
    unauthenticated: new Unauthenticated(limits.unauthenticatedMax),
    connections: new ConnectionShares(limits.connectionsMax),
    keyUses: resources.use(new KeyUses(database, log)),
    quota: new Quota(database, openStoredPosition(manager, streams), openQuotaUsageBroadcast(nats, log)),
    budgets,
    shares,
    buffers,
    committer,
    requestTraces: openRequestTraces(log, ownSpans),
    jsonDecoder: createBareDecoder(readers.json, events),
    rpcDecoder: createDecoders({ protobuf: readers.protobuf, json: readers.protobufJson }, events),
    spanDecoder: createDecoders({ protobuf: readers.otlp, json: readers.otlpJson }, spans),
    logDecoder: createDecoders({ protobuf: readers.otlpLogs, json: readers.otlpLogsJson }, spans),
    mediaUploads: openMediaUploads({ database, pepper: config.API_KEY_PEPPER, decodeBody }),
    spanCounter: resources.use(new SpanCounter(log)),
    senderLog: resources.use(new SenderLog(database, log)),
  };
}
