import type { NatsConnection } from '@nats-io/transport-node';
import { ConfigError } from '../config.ts';

/**
 * Checks that nats-server fsyncs every message before it acknowledges it. Without it a power cut loses every
 * message of the last two minutes (reliability §1). The server tells it on its monitoring port only.
 *
 * @throws ConfigError when it does not, or cannot be asked.
 */
export async function requireSyncAlways(
  connection: NatsConnection,
  monitorUrl: string | undefined,
): Promise<void> {
  const base = monitorUrl ?? `http://${connection.info?.host ?? '127.0.0.1'}:8222`;
  const answer = await askMonitor(base);
  if (answer.server_id !== connection.info?.server_id && connection.info?.cluster === undefined) {
    throw new ConfigError(
      `NATS_MONITOR_URL (${base}) is the monitoring port of another server than NATS_URL.`,
    );
  }
  if (answer.config?.sync_always === true) return;
  throw new ConfigError(
    'nats-server does not fsync every message: a power cut would lose events that were answered with 202. ' +
      'Set `sync_interval: always` in the jetstream block of its configuration, or NATS_ALLOW_UNSYNCED=true to accept that.',
  );
}

interface JetStreamReport {
  server_id?: string;
  config?: { sync_always?: boolean };
}

async function askMonitor(base: string): Promise<JetStreamReport> {
  try {
    const response = await fetch(new URL('/jsz?config=1', base), { signal: AbortSignal.timeout(5_000) });
    return (await response.json()) as JetStreamReport;
  } catch (error) {
    throw new ConfigError(
      `nats-server's monitoring port does not answer at ${base} (${String(error)}), so that its fsync setting is unknown. ` +
        'Set NATS_MONITOR_URL to it, or NATS_ALLOW_UNSYNCED=true to go on without knowing.',
    );
  }
}
