import {
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { ConfigError } from '../../platform/config/config-error.ts';
import type { Config } from '../../platform/config.ts';
import { retryUntilAvailable } from '../../platform/queue/availability.ts';
import { differencesOf } from '../../platform/queue/stream.ts';
import { type ControlChange, decodeChanges } from './change.ts';
import { controlBytesMax, readMessagesMax, readTimeoutMs } from './limits.ts';

export const controlStream = { name: 'WEIR_CONTROL', subject: 'weir.control' } as const;

/** A start after this sequence, or with the first message that was published at this time or later. */
export type ControlStart = { readonly afterSequence: number } | { readonly time: Date };

function controlSettings({ NATS_REPLICAS }: Pick<Config, 'NATS_REPLICAS'>) {
  return {
    name: controlStream.name,
    subjects: [controlStream.subject],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // A full stream drops its oldest changes: administration goes on, and a restore names the gap.
    discard: DiscardPolicy.Old,
    max_bytes: controlBytesMax,
    max_age: 0,
    max_msgs: -1,
    max_msg_size: -1,
    deny_delete: true,
    num_replicas: NATS_REPLICAS,
    duplicate_window: nanos(2 * 60_000),
  } satisfies Partial<StreamConfig>;
}

/**
 * Creates the control stream if it is missing, and adds replicas to it.
 * @throws ConfigError when nats-server rejects it, has not answered in time, or has it with other settings.
 */
export async function ensureControlStream(
  connection: NatsConnection,
  config: Pick<Config, 'NATS_REPLICAS'>,
): Promise<void> {
  const wanted = controlSettings(config);
  const manager = await retryUntilAvailable(connection, () => jetstreamManager(connection));
  // Succeeds when the same stream exists. A copy, because the client modifies its argument.
  const add = () => manager.streams.add({ ...wanted }).catch(explainNoStorage);
  const found = (await findControlStream(connection)) ?? (await retryUntilAvailable(connection, add));
  // Never reduced: NATS_REPLICAS may just have been forgotten.
  const num_replicas = Math.max(found.config.num_replicas, wanted.num_replicas);
  if (found.config.num_replicas !== num_replicas)
    await retryUntilAvailable(connection, () => manager.streams.update(wanted.name, { num_replicas }));
  const differences = differencesOf({ ...found.config, num_replicas }, { ...wanted, num_replicas });
  if (differences.length > 0)
    throw new ConfigError(
      `The stream ${wanted.name} on nats-server exists with different settings: ${differences.join(', ')}.`,
    );
}

/** "Insufficient storage resources available": the other streams have reserved the bytes. */
const noStorageCode = 10_047;

function explainNoStorage(error: unknown): never {
  if (!(error instanceof JetStreamApiError) || error.code !== noStorageCode) throw error;
  throw new ConfigError(
    `nats-server has no ${controlBytesMax} bytes left for the stream ${controlStream.name}: lower QUEUE_BYTES_MAX, or raise max_file. ` +
      'Without it a restore of Postgres would bring back keys that were revoked since the backup.',
    { cause: error },
  );
}

/** @returns undefined when the stream does not exist. */
export async function readControlState(connection: NatsConnection) {
  const info = await findControlStream(connection);
  if (info === undefined) return undefined;
  const { state, config } = info;
  return {
    /** The first sequence in the stream, `last + 1` when it is empty, and the last one that it ever had. */
    firstSequence: state.messages === 0 ? state.last_seq + 1 : state.first_seq,
    lastSequence: state.last_seq,
    messages: state.messages,
    bytes: state.bytes,
    bytesMax: config.max_bytes,
    /** When its oldest message was published; undefined when it is empty. */
    oldestAt: state.messages === 0 ? undefined : new Date(state.first_ts),
  };
}

async function findControlStream(connection: NatsConnection): Promise<StreamInfo | undefined> {
  const manager = await retryUntilAvailable(connection, () => jetstreamManager(connection));
  try {
    return await retryUntilAvailable(connection, () => manager.streams.info(controlStream.name));
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    if (cause instanceof JetStreamApiError && cause.status === 404) return undefined;
    throw error;
  }
}

/**
 * Removes what the oldest backup has. Otherwise the stream drops its oldest changes at `controlBytesMax`.
 * @param throughSequence the `lastSequence` that was read when the oldest kept backup began.
 */
export async function pruneControlStream(connection: NatsConnection, throughSequence: number): Promise<void> {
  const manager = await jetstreamManager(connection);
  // JetStream keeps the given sequence itself.
  await manager.streams.purge(controlStream.name, { seq: throughSequence + 1 });
}

/** The messages of the control stream that it has now, from a start on, in the order of publication. */
export async function* readControlStream(
  connection: NatsConnection,
  start: ControlStart,
): AsyncGenerator<readonly ControlChange[]> {
  const state = await readControlState(connection);
  if (state === undefined || state.messages === 0) return;
  const from = 'time' in start ? undefined : Math.max(start.afterSequence + 1, state.firstSequence);
  if (from !== undefined && from > state.lastSequence) return;
  const consumer = await jetstream(connection).consumers.get(
    controlStream.name,
    'time' in start
      ? { deliver_policy: DeliverPolicy.StartTime, opt_start_time: start.time.toISOString() }
      : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from ?? 1 },
  );
  const { num_pending: pending } = await consumer.info();
  for (let read = 0; read < pending; ) {
    const before = read;
    const pull = { max_messages: Math.min(readMessagesMax, pending - read), expires: readTimeoutMs };
    for await (const message of await consumer.fetch(pull)) {
      read += 1;
      yield decodeChanges(message.data);
    }
    if (read === before) throw new Error('nats-server does not deliver the messages of the control stream');
  }
}
