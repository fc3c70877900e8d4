import { type JetStreamManager, jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Config } from '../../platform/config.ts';
import {
  consumerName,
  consumerSettingsOf,
  type QueueStream,
  streamSettings,
} from '../../platform/queue/settings.ts';
import { differencesOf, findStreams } from '../../platform/queue/stream.ts';
import { requireSyncAlways } from '../../platform/queue/sync-always.ts';
import {
  readOldestPending,
  readStreamState,
  type StreamState,
} from '../../store/queue-state/stream-state.ts';
import { readWindowLimits } from '../../store/queue-state/window-limits.ts';
import { type Finding, failed, finding, ok, warning } from './finding.ts';
import { queuedSecondsMax, queueRatioMax } from './limits.ts';

/**
 * Checks that nats-server syncs every message, that the streams have Weir's settings, and how full they are.
 */
export async function checkQueue(connection: NatsConnection, config: Config): Promise<Finding[]> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const action = 'Start an ingest: it creates the streams.';
  const checks = await Promise.all([
    finding('nats.sync', 'Set `sync_interval: always` in the jetstream block of every node.', async () => {
      await requireSyncAlways(connection, config);
      return ok('nats.sync', 'every node that answers syncs each message');
    }),
    finding('queue', action, async () => {
      const found = [...(await findStreams(manager))];
      if (found.length === 0) return failed('queue', 'there is no stream', action);
      const checked = await Promise.all(
        found.map(([stream, info]) =>
          finding(`queue.${stream.name}`, action, () => checkStream(manager, config, { stream, info })),
        ),
      );
      const hasWindow = found.some(([{ keepsStored }]) => keepsStored);
      return hasWindow ? checked.flat() : [...checked.flat(), judgeMissingWindow(config)];
    }),
  ]);
  return checks.flat();
}

async function checkStream(
  manager: JetStreamManager,
  config: Config,
  { stream, info }: { stream: QueueStream; info: StreamInfo },
): Promise<Finding[]> {
  const check = `queue.${stream.name}`;
  // The size may be changed; services set it to QUEUE_BYTES_MAX when they start.
  const { max_bytes: _, ...wanted } = streamSettings(config, stream);
  const consumer = await manager.consumers.info(stream.name, consumerName);
  const differences = [
    ...differencesOf(info.config, wanted),
    ...differencesOf(consumer.config, consumerSettingsOf(consumer.config)),
  ];
  const drift =
    differences.length === 0
      ? ok(check, 'stream and consumer have the settings of Weir')
      : failed(
          check,
          differences.join(', '),
          `Correct them with \`nats stream edit ${stream.name}\`, or let nobody else change them.`,
        );
  const state = await readStreamState(manager, stream);
  if (state === undefined) return [drift, ...checkReplicas(check, info)];
  const backlog = await checkBacklog(manager, check, state);
  return [drift, ...checkReplicas(check, info), ...backlog, ...checkWindow(check, config, state)];
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

async function checkBacklog(
  manager: JetStreamManager,
  check: string,
  state: StreamState,
): Promise<Finding[]> {
  const oldest = await readOldestPending(manager, state);
  const seconds = oldest === undefined ? 0 : Math.round((state.nowMs - oldest.getTime()) / 1_000);
  const ratio = state.bytes / state.bytesMax;
  const waiting = `${state.pending} messages wait, the oldest for ${seconds} s`;
  const used = `${Math.round(100 * ratio)}% of ${state.bytesMax} bytes are used`;
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

/** The streams of 0.1 keep nothing that was stored. */
function judgeMissingWindow({ REPLAY_WINDOW_HOURS: hours }: Config): Finding {
  const found = 'there is no replay window: a restore of Postgres loses what was stored since its backup';
  if (hours === 0) return ok('queue.window', `${found}, as REPLAY_WINDOW_HOURS=0 says`);
  const action =
    'After an upgrade from 0.1, when you will not go back: set REPLAY_WINDOW_HOURS, and restart the ingests (docs/operating.md, Replay window).';
  return warning('queue.window', found, action);
}

/** Whether the replay window reaches back as far as chosen, by default as far as its bytes do. */
function checkWindow(check: string, config: Config, state: StreamState): Finding[] {
  const { stream, firstAt, firstSequence, nowMs } = state;
  if (!stream.keepsStored) return [];
  const hours = firstAt === undefined ? 0 : (nowMs - firstAt.getTime()) / 3_600_000;
  const found = `what was stored in the last ${hours.toFixed(1)} hours can be stored again`;
  const wantedHours = readWindowLimits(config).windowMs / 3_600_000;
  const isShort = config.REPLAY_WINDOW_HOURS !== undefined && firstSequence > 1 && hours < wantedHours / 2;
  if (!isShort) return [ok(`${check}.window`, found)];
  return [
    warning(
      `${check}.window`,
      `${found}, of REPLAY_WINDOW_HOURS=${wantedHours}`,
      'Raise QUEUE_BYTES_MAX: the window takes half of it at most. See docs/operating.md, Replay window.',
    ),
  ];
}
