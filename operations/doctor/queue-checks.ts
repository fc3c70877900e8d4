import {
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Config } from '../../lib/config.ts';
import {
  consumerName,
  consumerSettings,
  type QueueStream,
  queueStreams,
  streamSettings,
} from '../../lib/queue/settings.ts';
import { differencesOf } from '../../lib/queue/stream.ts';
import { requireSyncAlways } from '../../lib/queue/sync-always.ts';
import { type Finding, failed, finding, ok, warning } from './finding.ts';
import { queuedSecondsMax, queueRatioMax } from './limits.ts';

/** Checks nats-server: that it syncs every message, that the streams have Weir's settings, and how full they are. */
export async function checkQueue(connection: NatsConnection, config: Config): Promise<Finding[]> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const checks = await Promise.all([
    finding('nats.sync', 'Set `sync_interval: always` in the jetstream block of every node.', async () => {
      await requireSyncAlways(connection, config);
      return ok('nats.sync', 'every node that answers syncs each message');
    }),
    ...queueStreams(config).map((stream) =>
      finding(`queue.${stream.name}`, 'Start an ingest: it creates the streams.', () =>
        checkStream(manager, config, stream),
      ),
    ),
  ]);
  return checks.flat();
}

async function checkStream(
  manager: JetStreamManager,
  config: Config,
  stream: QueueStream,
): Promise<Finding[]> {
  const check = `queue.${stream.name}`;
  const info = await manager.streams.info(stream.name).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.status === 404) return undefined;
    throw error;
  });
  if (info === undefined)
    return [failed(check, 'the stream does not exist', 'Start an ingest: it creates it.')];
  // The size may be changed; services set it to QUEUE_BYTES_MAX when they start.
  const { max_bytes: _, ...wanted } = streamSettings(config, stream);
  const consumer = await manager.consumers.info(stream.name, consumerName);
  const differences = [
    ...differencesOf(info.config, wanted),
    ...differencesOf(consumer.config, consumerSettings),
  ];
  const drift =
    differences.length === 0
      ? ok(check, 'stream and consumer have the settings of Weir')
      : failed(
          check,
          differences.join(', '),
          `Correct them with \`nats stream edit ${stream.name}\`, or let nobody else change them.`,
        );
  return [drift, ...checkReplicas(check, info), ...checkBacklog(check, info)];
}

function checkReplicas(check: string, { cluster }: StreamInfo): Finding[] {
  const behind = cluster?.replicas?.filter(({ offline, current }) => offline || !current) ?? [];
  if (cluster === undefined || cluster.replicas === undefined) return [];
  if (behind.length === 0) return [ok(`${check}.replicas`, `${cluster.replicas.length + 1} are current`)];
  return [
    failed(
      `${check}.replicas`,
      `${behind.map(({ name, offline }) => `${name} is ${offline ? 'offline' : 'behind'}`).join(', ')}`,
      'Start that node. While one of three is away, the loss of another one stops ingest.',
    ),
  ];
}

function checkBacklog(check: string, { state, config }: StreamInfo): Finding[] {
  const seconds = state.messages === 0 ? 0 : Math.round((Date.now() - Date.parse(state.first_ts)) / 1_000);
  const ratio = state.bytes / config.max_bytes;
  const waiting = `${state.messages} messages wait, the oldest for ${seconds} s`;
  const used = `${Math.round(100 * ratio)} % of ${config.max_bytes} bytes are used`;
  return [
    seconds <= queuedSecondsMax
      ? ok(`${check}.pending`, waiting)
      : failed(
          `${check}.pending`,
          waiting,
          'Look at the writer and at Postgres (docs/operating.md, WeirQueueDelayed).',
        ),
    ratio <= queueRatioMax
      ? ok(`${check}.bytes`, used)
      : warning(`${check}.bytes`, used, 'See docs/operating.md, WeirQueueFilling.'),
  ];
}
