import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConfigError } from '../config/config-error.ts';
import { queueStartTimeoutMs } from './limits.ts';

/** A cluster elects a leader in 4 to 9 s: prompt enough, and little load on the nodes. */
const retryPauseMs = 250;

/** "No suitable peers for placement": too few nodes are up yet. */
const noPeersCode = 10_005;

/**
 * Retries a JetStream request while the cluster elects a leader or starts. Permanent errors fail at once.
 * @throws ConfigError when nats-server rejects the request, or has not answered it within
 * `queueStartTimeoutMs`.
 */
export async function retryUntilAvailable<T>(
  connection: NatsConnection,
  request: () => Promise<T>,
): Promise<T> {
  const deadlineMs = performance.now() + queueStartTimeoutMs;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      if (isPermanent(connection, error) || performance.now() > deadlineMs) {
        throw new ConfigError(`nats-server cannot store the queue: ${String(error)}.`, { cause: error });
      }
      await sleep(retryPauseMs);
    }
  }
}

/** Time-outs, status 503 (no leader) and too few nodes are worth a retry. */
function isPermanent({ info }: NatsConnection, error: unknown): boolean {
  if (info?.jetstream === false) return true;
  return error instanceof JetStreamApiError && error.status !== 503 && error.code !== noPeersCode;
}
