import type { NatsConnection } from '@nats-io/transport-node';
import { type Config, ConfigError } from '../config.ts';

type MonitorConfig = Pick<Config, 'NATS_URL' | 'NATS_MONITOR_URL' | 'NATS_REPLICAS'>;

/**
 * Checks that every nats-server fsyncs every message before it acknowledges it. Without it a power cut loses every
 * message of the last two minutes (reliability §1). A server tells it on its monitoring port only, of itself only.
 * Of a cluster, a minority may be away: what runs without one node must also start without it.
 *
 * @throws ConfigError when one does not, or too few can be asked.
 */
export async function requireSyncAlways(connection: NatsConnection, config: MonitorConfig): Promise<void> {
  const urls = monitorUrls(connection, config);
  if (urls.length < config.NATS_REPLICAS) {
    throw new ConfigError(
      `The queue has ${config.NATS_REPLICAS} copies (NATS_REPLICAS), and the fsync setting of each node must be known: ` +
        `name the monitoring ports of all of them in NATS_MONITOR_URL (now ${urls.join(', ')}).`,
    );
  }
  const reports = await Promise.allSettled(urls.map(askMonitor));
  const answers = reports.filter((report) => report.status === 'fulfilled').map(({ value }) => value);
  const failure = reports.find((report) => report.status === 'rejected');
  const isCluster = connection.info?.cluster !== undefined;
  if (failure !== undefined && (!isCluster || answers.length <= urls.length / 2)) throw failure.reason;
  if (failure === undefined && !answers.some(({ id }) => id === connection.info?.server_id)) {
    throw new ConfigError(
      `NATS_MONITOR_URL (${urls.join(', ')}) is the monitoring port of another server than NATS_URL.`,
    );
  }
  const unsynced = answers.filter(({ syncAlways }) => !syncAlways).map(({ url }) => url);
  if (unsynced.length === 0) return;
  throw new ConfigError(
    `nats-server (${unsynced.join(', ')}) does not fsync every message: a power cut would lose events that were answered with 202. ` +
      'Set `sync_interval: always` in the jetstream block of its configuration, or NATS_ALLOW_UNSYNCED=true to accept that.',
  );
}

/** What was configured, or the usual monitoring port of every server that is in the configuration. */
function monitorUrls(connection: NatsConnection, { NATS_URL, NATS_MONITOR_URL }: MonitorConfig): string[] {
  if (NATS_MONITOR_URL !== undefined) return NATS_MONITOR_URL.split(',');
  const hosts = NATS_URL?.split(',').map((url) => new URL(url).hostname);
  return (hosts ?? [connection.info?.host ?? '127.0.0.1']).map((host) => `http://${host}:8222`);
}

interface MonitorAnswer {
  url: string;
  id: string | undefined;
  syncAlways: boolean;
}

async function askMonitor(url: string): Promise<MonitorAnswer> {
  try {
    const response = await fetch(new URL('/jsz?config=1', url), { signal: AbortSignal.timeout(5_000) });
    const report = (await response.json()) as { server_id?: string; config?: { sync_always?: boolean } };
    return { url, id: report.server_id, syncAlways: report.config?.sync_always === true };
  } catch (error) {
    throw new ConfigError(
      `nats-server's monitoring port does not answer at ${url} (${String(error)}), so that its fsync setting is unknown. ` +
        'Set NATS_MONITOR_URL to it, or NATS_ALLOW_UNSYNCED=true to go on without knowing.',
    );
  }
}
