import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { retryUntilAvailable } from '../../platform/queue/availability.ts';
import { readOldestPending, readStreamStates, type StreamState } from './stream-state.ts';

/** A stream's last sequence at some time: messages acknowledged before have it or a lower one. */
export interface Watermark {
  readonly stream: string;
  readonly sequence: number;
}

export async function readWatermarks(connection: NatsConnection): Promise<Watermark[]> {
  const states = await readStreams(connection);
  return states.map(({ stream, lastSequence }) => ({ stream: stream.name, sequence: lastSequence }));
}

/** An upper bound of the messages up to these watermarks that are neither committed nor quarantined. */
export async function countQueued(
  connection: NatsConnection,
  watermarks: readonly Watermark[],
): Promise<number> {
  const states = await readStreams(connection);
  return watermarks.reduce((sum, { stream, sequence }) => {
    const state = states.find((one) => one.stream.name === stream);
    if (state === undefined || state.pending === 0) return sum;
    return sum + Math.max(0, sequence - state.storedUpTo);
  }, 0);
}

/** When the oldest message that is not stored was accepted; undefined when all are stored. */
export async function readOldestQueued(connection: NatsConnection): Promise<Date | undefined> {
  const manager = await openManager(connection);
  const states = await retryUntilAvailable(connection, () => readStreamStates(manager));
  const times = await Promise.all(states.map((state) => readOldestPending(manager, state)));
  const known = times.filter((time) => time !== undefined).map((time) => time.getTime());
  return known.length === 0 ? undefined : new Date(Math.min(...known));
}

export async function readStreams(connection: NatsConnection): Promise<StreamState[]> {
  const manager = await openManager(connection);
  return retryUntilAvailable(connection, () => readStreamStates(manager));
}

function openManager(connection: NatsConnection) {
  return retryUntilAvailable(connection, () => jetstreamManager(connection));
}
