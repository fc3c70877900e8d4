import {
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config.ts';
import { retryUntilAvailable } from './availability.ts';
import { clusterAckPendingMax } from './limits.ts';
import {
  allStreams,
  consumerFrom,
  consumerName,
  consumerSettingsOf,
  type QueueStream,
  queueStreams,
  streamSettings,
} from './settings.ts';
import { requireSyncAlways } from './sync-always.ts';

export type QueueConfig = Pick<
  Config,
  | 'QUEUE_BYTES_MAX'
  | 'NATS_REPLICAS'
  | 'NATS_URL'
  | 'NATS_MONITOR_URL'
  | 'NATS_ALLOW_UNSYNCED'
  | 'REPLAY_WINDOW_HOURS'
>;

/**
 * Creates missing streams and consumers, and checks that they, and the fsync setting of every server, make
 * acknowledged messages durable (ADR 0002). Waits while a cluster elects a leader. Without
 * REPLAY_WINDOW_HOURS the streams of Weir 0.1 stay in use where they exist, because a writer of 0.1 reads no
 * others (ADR 31).
 * @returns the streams to publish to. @throws ConfigError that names every setting that differs.
 */
export async function ensureStreams(
  connection: NatsConnection,
  config: QueueConfig,
): Promise<readonly QueueStream[]> {
  const manager = await openManager(connection, config);
  return retryUntilAvailable(connection, async () => {
    const found = await findStreams(manager);
    const keepsStored = choosesWindow(config, [...found.keys()]);
    const wanted = queueStreams(config, keepsStored);
    const others = [...found.keys()].filter((stream) => stream.keepsStored !== keepsStored);
    const kinds = others.length === 0 ? 1 : 2;
    // First, because nats-server reserves the bytes of every stream.
    for (const other of others) await shrinkFor(manager, config, { other, wanted, found });
    for (const stream of wanted) await ensureStream(manager, config, { stream, kinds });
    return wanted;
  });
}

/** The streams of a writer, which reads all, and creates some only without any: ingests choose others. */
export async function ensureReadableStreams(connection: NatsConnection, config: QueueConfig): Promise<void> {
  const manager = await openManager(connection, config);
  const found = await retryUntilAvailable(connection, () => findStreams(manager));
  if (found.size === 0) await ensureStreams(connection, config);
  else await retryUntilAvailable(connection, () => checkStreams(manager, config));
}

/** Creates missing consumers, checks all settings, and divides QUEUE_BYTES_MAX among the streams. */
export async function checkStreams(manager: JetStreamManager, config: QueueConfig): Promise<void> {
  const streams = [...(await findStreams(manager)).keys()];
  const kinds = new Set(streams.map(({ keepsStored }) => keepsStored)).size;
  for (const stream of streams) await ensureStream(manager, config, { stream, kinds });
}

export async function findStreams(manager: JetStreamManager): Promise<Map<QueueStream, StreamInfo>> {
  const found = new Map<QueueStream, StreamInfo>();
  for (const stream of allStreams) {
    const info = await findIfExists(() => manager.streams.info(stream.name));
    if (info !== undefined) found.set(stream, info);
  }
  return found;
}

/** Whether messages are published to the streams with a replay window. */
function choosesWindow(
  { REPLAY_WINDOW_HOURS: hours }: Pick<QueueConfig, 'REPLAY_WINDOW_HOURS'>,
  found: readonly QueueStream[],
): boolean {
  if (hours !== undefined) return hours > 0;
  return found.length === 0 || found.some(({ keepsStored }) => keepsStored);
}

async function openManager(connection: NatsConnection, config: QueueConfig): Promise<JetStreamManager> {
  if (!config.NATS_ALLOW_UNSYNCED) await requireSyncAlways(connection, config);
  return retryUntilAvailable(connection, () => jetstreamManager(connection));
}

/** Leaves half of the bytes to the streams that take its place. */
async function shrinkFor(
  manager: JetStreamManager,
  config: QueueConfig,
  {
    other,
    wanted,
    found,
  }: {
    other: QueueStream;
    wanted: readonly QueueStream[];
    found: ReadonlyMap<QueueStream, StreamInfo>;
  },
): Promise<void> {
  const { max_bytes } = streamSettings(config, other, 2);
  const info = found.get(other);
  if (info === undefined || info.config.max_bytes <= max_bytes) return;
  if (info.state.bytes > max_bytes && wanted.some((stream) => !found.has(stream)))
    throw new ConfigError(
      `The stream ${other.name} is more than half full, so there is no room for ${wanted.map(({ name }) => name).join(' and ')}: ` +
        'let the writers store its messages before you change REPLAY_WINDOW_HOURS.',
    );
  await manager.streams.update(other.name, { max_bytes });
}

async function ensureStream(
  manager: JetStreamManager,
  config: QueueConfig,
  { stream, kinds }: { stream: QueueStream; kinds: number },
): Promise<void> {
  const wanted = streamSettings(config, stream, kinds);
  const found = await findOrAddStream(manager, wanted);
  checkSettings(`stream ${stream.name}`, found, wanted);
  if (found.persist_mode === 'async') {
    throw new ConfigError(
      `The stream ${stream.name} has persist_mode: async, which acknowledges before fsync. Remove it.`,
    );
  }
  const { config: actual } = await findOrAddConsumer(manager, stream);
  checkSettings(`consumer ${consumerName} of ${stream.name}`, actual, consumerSettingsOf(actual));
}

/**
 * Raises `max_ack_pending` for a database whose nodes fail one by one, after {@link ensureReadableStreams}.
 */
export async function allowMoreWaiting(manager: JetStreamManager): Promise<void> {
  for (const { name } of (await findStreams(manager)).keys())
    await manager.consumers.update(name, consumerName, { max_ack_pending: clusterAckPendingMax });
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
  // An operator may change the queue's size or add replicas. Replicas are never reduced: NATS_REPLICAS may
  // just have been forgotten.
  const num_replicas = Math.max(config.num_replicas, wanted.num_replicas);
  if (config.max_bytes === wanted.max_bytes && config.num_replicas === num_replicas) return config;
  return (await manager.streams.update(wanted.name, { max_bytes: wanted.max_bytes, num_replicas })).config;
}

export function findOrAddConsumer(manager: JetStreamManager, { name }: QueueStream) {
  return findOrAdd(
    () => manager.consumers.info(name, consumerName),
    () => manager.consumers.add(name, consumerFrom()),
  );
}

/** Safe when several processes start at once: one creates, the others find what it created. */
async function findOrAdd<T>(find: () => Promise<T>, add: () => Promise<T>): Promise<T> {
  const existing = await findIfExists(find);
  if (existing !== undefined) return existing;
  try {
    return await add();
  } catch (error) {
    const addedByAnother = await findIfExists(find);
    if (addedByAnother !== undefined) return addedByAnother;
    throw error;
  }
}

/** @returns undefined when the stream or consumer does not exist. */
export async function findIfExists<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return undefined;
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
