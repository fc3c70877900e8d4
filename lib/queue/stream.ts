import {
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Config, ConfigError } from '../config.ts';
import { onceAvailable } from './available.ts';
import {
  consumerName,
  consumerSettings,
  type QueueStream,
  queueStreams,
  streamSettings,
} from './settings.ts';
import { requireSyncAlways } from './sync-always.ts';

type QueueConfig = Pick<
  Config,
  'QUEUE_BYTES_MAX' | 'NATS_REPLICAS' | 'NATS_URL' | 'NATS_MONITOR_URL' | 'NATS_ALLOW_UNSYNCED'
>;

/**
 * Makes the queue's streams and their consumers where they are missing, and refuses to go on where they, or a server's
 * fsync, are not as durability needs them (reliability §1). A cluster that is choosing its leader is waited for.
 *
 * @throws ConfigError naming every setting that differs.
 */
export async function ensureStream(connection: NatsConnection, config: QueueConfig): Promise<void> {
  if (!config.NATS_ALLOW_UNSYNCED) await requireSyncAlways(connection, config);
  const manager = await onceAvailable(connection, () => jetstreamManager(connection));
  for (const stream of queueStreams(config)) {
    await onceAvailable(connection, () => ensureOne(manager, config, stream));
  }
}

async function ensureOne(manager: JetStreamManager, config: QueueConfig, stream: QueueStream): Promise<void> {
  const wanted = streamSettings(config, stream);
  const found = await findOrAddStream(manager, wanted);
  refuseDifferences(`stream ${stream.name}`, found, wanted);
  if (found.persist_mode === 'async') {
    throw new ConfigError(
      `The stream ${stream.name} has persist_mode: async, which answers before fsync. Remove it.`,
    );
  }
  const consumer = await findOrAddConsumer(manager, stream);
  refuseDifferences(`consumer ${consumerName} of ${stream.name}`, consumer.config, consumerSettings);
}

async function findOrAddStream(
  manager: JetStreamManager,
  wanted: ReturnType<typeof streamSettings>,
): Promise<StreamConfig> {
  const { config } = await findOrAdd(
    () => manager.streams.info(wanted.name),
    // A copy, since the client writes into what it is given.
    () => manager.streams.add({ ...wanted }),
  );
  // How much the queue may hold is the operator's to change between starts, and so are more copies of it. Fewer could
  // come of a variable that was forgotten, and are not made.
  const num_replicas = Math.max(config.num_replicas, wanted.num_replicas);
  if (config.max_bytes === wanted.max_bytes && config.num_replicas === num_replicas) return config;
  return (await manager.streams.update(wanted.name, { max_bytes: wanted.max_bytes, num_replicas })).config;
}

function findOrAddConsumer(manager: JetStreamManager, { name }: QueueStream) {
  return findOrAdd(
    () => manager.consumers.info(name, consumerName),
    () => manager.consumers.add(name, { ...consumerSettings }),
  );
}

/** Several processes start together: one of them adds, and the others find. */
async function findOrAdd<T>(find: () => Promise<T>, add: () => Promise<T>): Promise<T> {
  const findExisting = () =>
    find().catch((error: unknown) => {
      if (error instanceof JetStreamApiError && error.status === 404) return undefined;
      throw error;
    });
  const existing = await findExisting();
  if (existing !== undefined) return existing;
  try {
    return await add();
  } catch (error) {
    const addedByAnother = await findExisting();
    if (addedByAnother !== undefined) return addedByAnother;
    throw error;
  }
}

function refuseDifferences(what: string, actual: object, wanted: object): void {
  const differences = Object.entries(wanted)
    .filter(
      ([name, value]) =>
        JSON.stringify((actual as Record<string, unknown>)[name] ?? 0) !== JSON.stringify(value),
    )
    .map(([name, value]) => `${name} must be ${JSON.stringify(value)}`);
  if (differences.length === 0) return;
  throw new ConfigError(
    `The ${what} on nats-server was made with other settings: ${differences.join(', ')}.`,
  );
}
