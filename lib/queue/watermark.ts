import { JetStreamApiError, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { retryUntilAvailable } from './availability.ts';
import { firstStream, secondStream } from './settings.ts';

/** The last sequence of a stream at some time: every message acknowledged before has this sequence or a lower one. */
export interface Watermark {
  readonly stream: string;
  readonly sequence: number;
}

/** The watermarks of the existing streams. */
export async function readWatermarks(connection: NatsConnection): Promise<Watermark[]> {
  const states = await readStates(connection);
  return states.map(({ name, state }) => ({ stream: name, sequence: state.last_seq }));
}

/**
 * An upper bound of the messages up to these watermarks that are still queued. A message leaves its stream after its
 * events were committed or quarantined, so at 0 the database has all of them.
 */
export async function countQueued(
  connection: NatsConnection,
  watermarks: readonly Watermark[],
): Promise<number> {
  const states = await readStates(connection);
  return watermarks.reduce((sum, { stream, sequence }) => {
    const state = states.find(({ name }) => name === stream)?.state;
    if (state === undefined || state.messages === 0) return sum;
    return sum + Math.max(0, sequence - state.first_seq + 1);
  }, 0);
}

/** When the oldest message that is still queued was accepted; undefined when the queue is empty. */
export async function readOldestQueued(connection: NatsConnection): Promise<Date | undefined> {
  const states = await readStates(connection);
  const times = states
    .filter(({ state }) => state.messages > 0)
    .map(({ state }) => Date.parse(state.first_ts));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

async function readStates(connection: NatsConnection) {
  const manager = await retryUntilAvailable(connection, () => jetstreamManager(connection));
  const states = [];
  for (const { name } of [firstStream, secondStream]) {
    const info = await retryUntilAvailable(connection, () => findStream(manager, name));
    if (info !== undefined) states.push({ name, state: info.state });
  }
  return states;
}

/** @returns undefined when the stream does not exist: the second one exists only with three replicas. */
async function findStream(manager: JetStreamManager, name: string) {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return undefined;
    throw error;
  }
}
