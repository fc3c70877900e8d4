import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type BackgroundWork, startLoop } from '../../platform/background-loop.ts';
import { requiredOf } from '../../platform/config/services.ts';
import { type ConfigWith, requireConfig } from '../../platform/config.ts';
import type { Logger } from '../../platform/log.ts';
import { retryUntilAvailable } from '../../platform/queue/availability.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { requireWritable } from '../../platform/queue/nats-health.ts';
import { answerDiscovery } from '../../platform/queue/service-discovery.ts';
import { allowMoreWaiting, ensureReadableStreams } from '../../platform/queue/stream.ts';
import { createReadiness } from '../../platform/readiness.ts';
import type { ServiceContext, Started } from '../../platform/service.ts';
import { openOwnSpans } from '../../platform/tracing/own-spans.ts';
import { startBackgroundRelay } from '../../store/control/relay.ts';
import { openPostgres, storeTimeoutMs } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { untilDurable } from '../../store/db/durability.ts';
import { layoutOf } from '../../store/db/layout/layout.ts';
import { setPlannerStatistics } from '../../store/db/planner-statistics.ts';
import { requireSchemaOnStart } from '../../store/migrate/schema-range.ts';
import { openQueueFigures } from '../../store/queue-state/queue-figures.ts';
import { keepStoredCounts } from '../../store/queue-state/stored-counts.ts';
import { readReplays } from '../../store/queue-state/stored-positions.ts';
import { readWindowLimits } from '../../store/queue-state/window-limits.ts';
import { foldDelays } from '../../store/store-delays/fold-delays.ts';
import { foldIntervalMs } from '../../store/store-delays/limits.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { keepDimensions } from '../../store/write/statistics/keep-dimensions.ts';
import { startErasures } from './deletion/erasures.ts';
import { startRetention } from './deletion/retention.ts';
import {
  clusterFoldMs,
  clusterGatherMs,
  shardStatisticsMs,
  statisticsFoldMs,
  storedCountMs,
  storeLockTimeoutMs,
} from './limits.ts';
import { registerStateMetrics } from './metrics.ts';
import { keepPartitions } from './partition-upkeep.ts';
import type { StoreListeners } from './parts/part-store.ts';
import { createWriterProbes } from './probes.ts';
import { startStoreWorkers } from './store-workers.ts';
import { openStoredNotices } from './stored-notices.ts';
import { followStreams } from './streams/followed-streams.ts';
import { startTraceResolution } from './trace-resolution.ts';

/** JetStream in, Postgres out. @throws ConfigError for a missing variable, or a schema that does not fit. */
export async function startWriter(context: ServiceContext): Promise<Started> {
  const { log, resources, setStarting, report } = context;
  const config = requireConfig(context.config, requiredOf.writer);
  const sql = resources.use(
    openPostgres(config.DATABASE_URL, {
      applicationName: 'weir-writer',
      // One more for what runs in the background, so that storing never waits for it.
      connectionsMax: config.WRITER_CONNECTIONS + 1,
      statementTimeoutMs: storeTimeoutMs,
      lockTimeoutMs: storeLockTimeoutMs,
    }),
  );
  const database = openDatabase(sql);
  const nats = resources.use(await connectQueue(config.NATS_URL, 'weir-writer'));
  const findUnready = createReadiness({
    postgres: () => sql`SELECT 1`,
    nats: () => requireWritable(nats, config),
  });
  setStarting(findUnready);
  if (!config.DATABASE_ALLOW_UNSYNCED)
    await untilDurable(database, (error) => log.warn({ err: error }, 'waiting for Postgres'));
  await requireSchemaOnStart(sql, log);
  await ensureReadableStreams(nats, config);
  answerDiscovery(nats, report);
  startBackgroundWork({ database, nats, config, log, resources });
  const listeners = openListeners(database, nats, context);
  const ownSpans = resources.use(await openOwnSpans('writer', config));
  const replays = await readReplays(database);
  const isCluster = await isOnCluster(database);
  const gatherMs = isCluster ? clusterGatherMs : 0;
  const { WRITER_CONNECTIONS: concurrency } = config;
  const workers = resources.use(
    startStoreWorkers({ database, log, concurrency, ...listeners, gatherMs, replays }),
  );
  const manager = await retryUntilAvailable(nats, () => jetstreamManager(nats));
  for (const work of periodicWorks(database, manager, isCluster)) resources.use(startLoop(work, log));
  if (isCluster) await allowMoreWaiting(manager);
  const limits = readWindowLimits(config);
  const following = { connection: nats, manager, database, receiver: workers, ownSpans, config, limits, log };
  resources.use(await followStreams(following));
  const readQueue = openQueueFigures(manager);
  const failedNodes = () => workers.failedNodes;
  registerStateMetrics(database, readQueue, failedNodes);
  const lastStoredAtMs = () => workers.lastStoredAtMs;
  return { concurrency, probes: createWriterProbes({ findUnready, readQueue, lastStoredAtMs, failedNodes }) };
}

/** A service also starts while Postgres is away. */
function isOnCluster(database: Database): Promise<boolean> {
  return layoutOf(database).then(
    (layout) => layout.isCluster,
    () => false,
  );
}

/** What happens once parts are stored. */
function openListeners(
  database: Database,
  nats: NatsConnection,
  { log, resources, shares }: ServiceContext,
): StoreListeners {
  const notices = resources.use(openStoredNotices(nats));
  const resolution = resources.use(startTraceResolution(database, log, (spaceId) => notices.add([spaceId])));
  return {
    onStored(parts) {
      notices.add(parts.map(({ spaceId }) => spaceId));
      for (const { spaceId, eventCount } of parts) shares.add(spaceId, eventCount);
    },
    onUnresolved: () => resolution.wake(),
  };
}

/** Partitions, retention, erasures, and the control stream. */
function startBackgroundWork(options: {
  database: Database;
  nats: NatsConnection;
  config: ConfigWith<'DATABASE_URL'>;
  log: Logger;
  resources: AsyncDisposableStack;
}): void {
  const { database, nats, config, log, resources } = options;
  const { DATABASE_URL: databaseUrl, RETENTION_DAYS_MAX: retentionDaysMax } = config;
  resources.use(keepPartitions(databaseUrl, log));
  resources.use(startRetention(databaseUrl, retentionDaysMax, log));
  resources.use(startBackgroundRelay({ database, connection: nats, config, log }));
  resources.use(startErasures(config, database, log));
}

function periodicWorks(
  database: Database,
  manager: JetStreamManager,
  isCluster: boolean,
): BackgroundWork<unknown>[] {
  /** A shard that was moved has lost its statistics. Its lists are slow until they are set again. */
  const shardStatistics = {
    run: () => setPlannerStatistics(database),
    intervalMs: shardStatisticsMs,
    failure: 'planner statistics of shards were not set; trying again later',
  };
  return [
    {
      run: () => foldDelays(database),
      intervalMs: foldIntervalMs,
      failure: 'delays of stored events were not counted; trying again later',
    },
    {
      run: (signal) => keepDimensions(database, signal),
      intervalMs: statisticsFoldMs,
      failure: 'dimensions did not count what was stored before; trying again later',
    },
    {
      run: () => keepStoredCounts(database, manager, storedCountMs),
      intervalMs: storedCountMs,
      failure: 'stored events were not counted for the control stream; trying again later',
    },
    {
      run: () => foldStatistics(database),
      intervalMs: isCluster ? clusterFoldMs : statisticsFoldMs,
      failure: 'statistics were not folded; charts stay exact, and get slower',
    },
    ...(isCluster ? [shardStatistics] : []),
  ];
}
