import {
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Config, ConfigError } from '../config.ts';
import { retryUntilAvailable } from './availability.ts';
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
 * Creates missing streams and consumers of the queue, and checks that existing ones, and the fsync setting of every
 * server, make acknowledged messages durable (ADR 0002). Waits while a cluster elects a leader.
 *
 * @throws ConfigError that names every setting that differs.
 */
export async function ensureStreams(connection: NatsConnection, config: QueueConfig): Promise<void> {
  if (!config.NATS_ALLOW_UNSYNCED) await requireSyncAlways(connection, config);
  const manager = await retryUntilAvailable(connection, () => jetstreamManager(connection));
  for (const stream of queueStreams(config)) {
    await retryUntilAvailable(connection, () => ensureStream(manager, config, stream));
  }
}

async function ensureStream(
  manager: JetStreamManager,
  config: QueueConfig,
  stream: QueueStream,
): Promise<void> {
  const wanted = streamSettings(config, stream);
  const found = await findOrAddStream(manager, wanted);
  checkSettings(`stream ${stream.name}`, found, wanted);
  if (found.persist_mode === 'async') {
    throw new ConfigError(
      `The stream ${stream.name} has persist_mode: async, which acknowledges before fsync. Remove it.`,
    );
  }
  const consumer = await findOrAddConsumer(manager, stream);
  checkSettings(`consumer ${consumerName} of ${stream.name}`, consumer.config, consumerSettings);
}

async function findOrAddStream(
  manager: JetStreamManager,
  wanted: ReturnType<typeof streamSettings>,
): Promise<StreamConfig> {
  const { config } = await findOrAdd(
    () => manager.streams.info(wanted.name),
    // A copy, because the client modifies its argument.
    () => manager.streams.add({ ...wanted }),
  );
  // An operator may change the size of the queue or add replicas between starts. The number of replicas is never
  // reduced: NATS_REPLICAS may just have been forgotten.
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

/** Safe when several processes start at once: one creates, the others find what it created. */
async function findOrAdd<T>(find: () => Promise<T>, add: () => Promise<T>): Promise<T> {
  const findIfExists = () =>
    find().catch((error: unknown) => {
      if (error instanceof JetStreamApiError && error.status === 404) return undefined;
      throw error;
    });
  const existing = await findIfExists();
  if (existing !== undefined) return existing;
  try {
    return await add();
  } catch (error) {
    const addedByAnother = await findIfExists();
    if (addedByAnother !== undefined) return addedByAnother;
    throw error;
  }
}

/** The wanted settings that are different, as text. */
export function differencesOf(actual: object, wanted: object): string[] {
  return Object.entries(wanted)
    .filter(
      ([name, value]) =>
        JSON.stringify((actual as Record<string, unknown>)[name] ?? 0) !== JSON.stringify(value),
    )
    .map(([name, value]) => `${name} must be ${JSON.stringify(value)}`);
}

function checkSettings(what: string, actual: object, wanted: object): void {
  const differences = differencesOf(actual, wanted);
  if (differences.length === 0) return;
  throw new ConfigError(
    `The ${what} on nats-server exists with different settings: ${differences.join(', ')}.`,
  );
}
