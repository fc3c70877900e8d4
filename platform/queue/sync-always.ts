import type { NatsConnection } from '@nats-io/transport-node';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config.ts';

export type MonitorConfig = Pick<Config, 'NATS_URL' | 'NATS_MONITOR_URL' | 'NATS_REPLICAS'>;

/**
 * Checks that every nats-server fsyncs each message before acknowledging it (`sync_interval: always`): by
 * default a power cut loses the last two minutes (ADR 0002). A server reports only its own setting, on its
 * monitoring port. A minority of a cluster's nodes may be down.
 * @throws ConfigError when a server does not fsync every message, or too few servers answer.
 */
export async function requireSyncAlways(connection: NatsConnection, config: MonitorConfig): Promise<void> {
  const urls = monitorUrls(connection, config);
  if (urls.length < config.NATS_REPLICAS) {
    throw new ConfigError(
      `The queue has ${config.NATS_REPLICAS} replicas (NATS_REPLICAS), and Weir must read the fsync setting of each node: ` +
        `set NATS_MONITOR_URL to the monitoring ports of all of them (now ${urls.join(', ')}).`,
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

/** NATS_MONITOR_URL, or port 8222 of every host in NATS_URL. */
export function monitorUrls(
  connection: NatsConnection,
  { NATS_URL, NATS_MONITOR_URL }: MonitorConfig,
): string[] {
  if (NATS_MONITOR_URL !== undefined) return NATS_MONITOR_URL.split(',');
  const hosts = NATS_URL?.split(',').map((url) => new URL(url).hostname);
  return (hosts ?? [connection.info?.host ?? '127.0.0.1']).map((host) => `http://${host}:8222`);
}

async function askMonitor(url: string) {
  try {
    const response = await fetch(new URL('/jsz?config=1', url), { signal: AbortSignal.timeout(5_000) });
    const report = (await response.json()) as { server_id?: string; config?: { sync_always?: boolean } };
    return { url, id: report.server_id, syncAlways: report.config?.sync_always === true };
  } catch (error) {
    throw new ConfigError(
      `nats-server's monitoring port does not answer at ${url} (${String(error)}), so its fsync setting is unknown. ` +
        'Set NATS_MONITOR_URL to it, or NATS_ALLOW_UNSYNCED=true to start without this check.',
    );
  }
}
