import {
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Config, ConfigError } from '../config.ts';
import { consumerName, consumerSettings, streamName, streamSettings } from './settings.ts';
import { requireSyncAlways } from './sync-always.ts';

type QueueConfig = Pick<
  Config,
  'QUEUE_BYTES_MAX' | 'NATS_REPLICAS' | 'NATS_MONITOR_URL' | 'NATS_ALLOW_UNSYNCED'
>;

/**
 * Makes the stream and its consumer where they are missing, and refuses to go on where they, or the server's fsync,
 * are not as durability needs them (reliability §1).
 *
 * @throws ConfigError naming every setting that differs.
 */
export async function ensureStream(connection: NatsConnection, config: QueueConfig): Promise<void> {
  if (!config.NATS_ALLOW_UNSYNCED) await requireSyncAlways(connection, config.NATS_MONITOR_URL);
  const manager = await jetstreamManager(connection);
  const wanted = streamSettings(config);
  const stream = await findOrAddStream(manager, wanted);
  refuseDifferences(`stream ${streamName}`, stream, wanted);
  if (stream.persist_mode === 'async') {
    throw new ConfigError(
      `The stream ${streamName} has persist_mode: async, which answers before fsync. Remove it.`,
    );
  }
  const consumer = await findOrAddConsumer(manager);
  refuseDifferences(`consumer ${consumerName}`, consumer.config, consumerSettings);
}

async function findOrAddStream(
  manager: JetStreamManager,
  wanted: ReturnType<typeof streamSettings>,
): Promise<StreamConfig> {
  const { config } = await findOrAdd(
    () => manager.streams.info(streamName),
    // A copy, since the client writes into what it is given.
    () => manager.streams.add({ ...wanted }),
  );
  if (config.max_bytes === wanted.max_bytes) return config;
  // How much the queue may hold is the operator's to change between starts.
  return (await manager.streams.update(streamName, { max_bytes: wanted.max_bytes })).config;
}

function findOrAddConsumer(manager: JetStreamManager) {
  return findOrAdd(
    () => manager.consumers.info(streamName, consumerName),
    () => manager.consumers.add(streamName, { ...consumerSettings }),
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
    throw new ConfigError(`nats-server cannot make ${streamName}: ${String(error)}.`, { cause: error });
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
