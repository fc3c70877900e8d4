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
import { type Finding, failed, finding, findingsOf, ok, type Verdict, warning } from './finding.ts';
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
      return ok('every node that answers syncs each message');
    }),
    finding('queue', action, async () => {
      const found = [...(await findStreams(manager))];
      if (found.length === 0) return failed('there is no stream', action);
      const checked = await Promise.all(
        found.map(([stream, info]) =>
          finding(`queue.${stream.name}`, action, () => checkStream(manager, config, { stream, info })),
        ),
      );
      const hasWindow = found.some(([{ keepsStored }]) => keepsStored);
      const missing = findingsOf({ 'queue.window': hasWindow ? undefined : judgeMissingWindow(config) });
      return [...checked.flat(), ...missing];
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
      ? ok('stream and consumer have the settings of Weir')
      : failed(
          differences.join(', '),
          `Correct them with \`nats stream edit ${stream.name}\`, or let nobody else change them.`,
        );
  const state = await readStreamState(manager, stream);
  return findingsOf({
    [check]: drift,
    [`${check}.replicas`]: judgeReplicas(info),
    [`${check}.pending`]: state && (await checkPending(manager, state)),
    [`${check}.bytes`]: state && judgeBytes(state),
    [`${check}.window`]: state && judgeWindow(config, state),
  });
}

function judgeReplicas({ cluster }: StreamInfo): Verdict | undefined {
  const behind = cluster?.replicas?.filter(({ offline, current }) => offline || !current) ?? [];
  if (cluster === undefined || cluster.replicas === undefined) return undefined;
  if (behind.length === 0) return ok(`${cluster.replicas.length + 1} are current`);
  return failed(
    behind.map(({ name, offline }) => `${name} is ${offline ? 'offline' : 'behind'}`).join(', '),
    'Start that node. While one of three is away, the loss of another one stops ingest.',
  );
}

async function checkPending(manager: JetStreamManager, state: StreamState): Promise<Verdict> {
  const oldest = await readOldestPending(manager, state);
  const seconds = oldest === undefined ? 0 : Math.round((state.nowMs - oldest.getTime()) / 1_000);
  const waiting = `${state.pending} messages wait, the oldest for ${seconds} s`;
  if (seconds <= queuedSecondsMax) return ok(waiting);
  return failed(waiting, 'Look at the writer and at Postgres (docs/operating.md, WeirQueueDelayed).');
}

function judgeBytes({ bytes, bytesMax }: StreamState): Verdict {
  const ratio = bytes / bytesMax;
  const used = `${Math.round(100 * ratio)}% of ${bytesMax} bytes are used`;
  return ratio <= queueRatioMax ? ok(used) : warning(used, 'See docs/operating.md, WeirQueueFilling.');
}

/** The streams of 0.1 keep nothing that was stored. */
function judgeMissingWindow({ REPLAY_WINDOW_HOURS: hours }: Config): Verdict {
  const found = 'there is no replay window: a restore of Postgres loses what was stored since its backup';
  if (hours === 0) return ok(`${found}, as REPLAY_WINDOW_HOURS=0 says`);
  const action =
    'After an upgrade from 0.1, when you will not go back: set REPLAY_WINDOW_HOURS, and restart the ingests (docs/operating.md, Replay window).';
  return warning(found, action);
}

/** Whether the replay window reaches back as far as chosen, by default as far as its bytes do. */
function judgeWindow(config: Config, state: StreamState): Verdict | undefined {
  const { stream, firstAt, firstSequence, nowMs } = state;
  if (!stream.keepsStored) return undefined;
  const hours = firstAt === undefined ? 0 : (nowMs - firstAt.getTime()) / 3_600_000;
  const found = `what was stored in the last ${hours.toFixed(1)} hours can be stored again`;
  const wantedHours = readWindowLimits(config).windowMs / 3_600_000;
  const isShort = config.REPLAY_WINDOW_HOURS !== undefined && firstSequence > 1 && hours < wantedHours / 2;
  if (!isShort) return ok(found);
  return warning(
    `${found}, of REPLAY_WINDOW_HOURS=${wantedHours}`,
    'Raise QUEUE_BYTES_MAX: the window takes half of it at most. See docs/operating.md, Replay window.',
  );
}
