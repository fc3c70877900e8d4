import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConfigError } from '../config.ts';
import { queueStartTimeoutMs } from '../limits.ts';

const pauseMs = 250;

/** "No suitable peers for placement": not all nodes have come up yet. */
const noPeersCode = 10_005;

/**
 * Does something with JetStream as soon as that is possible: a cluster that has just been started, or has just lost its
 * leader, is choosing one. A server that has no JetStream at all is not waited for.
 *
 * @throws ConfigError when nats-server refuses, or is not able to within `queueStartTimeoutMs`.
 */
export async function onceAvailable<T>(connection: NatsConnection, ask: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + queueStartTimeoutMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      if (isRefused(connection, error) || performance.now() > deadlineMs) {
        throw new ConfigError(`nats-server cannot keep the queue: ${String(error)}.`, { cause: error });
      }
      await sleep(pauseMs);
    }
  }
}

/** Whether asking again is of no use: everything but silence, and a cluster without a leader or without enough nodes. */
function isRefused({ info }: NatsConnection, error: unknown): boolean {
  if (info?.jetstream === false) return true;
  return error instanceof JetStreamApiError && error.status !== 503 && error.code !== noPeersCode;
}
