import { JetStreamApiError, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { retryUntilAvailable } from '../../platform/queue/availability.ts';
import { consumerFrom, consumerName } from '../../platform/queue/settings.ts';
import { findIfExists } from '../../platform/queue/stream.ts';
import type { Database } from '../db/database.ts';
import { skipCommitNumbers } from '../tail/skip-numbers.ts';
import { countLost, type LostEvents, recordUncounted } from './stored-counts.ts';
import { readStoredPositions, recordReplay, type StoredPosition } from './stored-positions.ts';
import { readStreamStates, type StreamState } from './stream-state.ts';

/**
 * Difference of nats-server's and Postgres' clocks: a minute (docs/data-lifecycle.md#retention), and room.
 */
const clockMarginMs = 5 * 60_000;

export interface StreamReplay {
  readonly stream: string;
  /** The first that is delivered again. */
  readonly fromSequence: number;
  /** The last at the time of the call. What is accepted later is delivered after it, as always. */
  readonly toSequence: number;
  /** Kept messages from `fromSequence` on: an upper bound of what is delivered again. */
  readonly messages: number;
  /** Messages that the database may lack and the stream does not have any more; undefined when it has all. */
  readonly missing: MissingMessages | undefined;
}

/** A gap between the database and the replay window: an upper bound, since some messages may be stored. */
export interface MissingMessages {
  readonly fromSequence: number;
  readonly toSequence: number;
  readonly messages: number;
  /** How many events they held that the database lacks. */
  readonly events: LostEvents;
  /** The database is known to be complete up to here. */
  readonly from: Date;
  /** When the first message after them that is kept was accepted, or later; null when none is kept. */
  readonly to: Date | null;
}

/**
 * Delivers again what a database restored to an earlier time may lack (ADR 31): from the first message that
 * it had not stored, by `queue_positions`, or that was accepted within five minutes before. Writers store
 * each event once, so a longer replay changes nothing. Commits get numbers that no live stream has seen. Work
 * queues keep nothing to replay. No writer may run: its messages would be delivered again.
 * @param restoredTo the time that the database was restored to. An earlier time replays more.
 */
export async function startReplay(
  connection: NatsConnection,
  database: Database,
  restoredTo: Date,
): Promise<StreamReplay[]> {
  await skipCommitNumbers(database);
  const manager = await retryUntilAvailable(connection, () => jetstreamManager(connection));
  const plan = await planReplay(connection, database, restoredTo);
  for (const { state, replay, completeUpTo } of plan) {
    const { fromSequence, stream } = replay;
    await retryUntilAvailable(connection, () => moveConsumer(manager, stream, fromSequence));
    await recordReplay(database, state, completeUpTo);
    if (replay.missing !== undefined) await recordUncounted(database, state, fromSequence - 1);
  }
  return plan.map(({ replay }) => replay);
}

/** What {@link startReplay} would deliver again. Changes nothing. */
export async function planReplay(connection: NatsConnection, database: Database, restoredTo: Date) {
  const manager = await retryUntilAvailable(connection, () => jetstreamManager(connection));
  const positions = await readStoredPositions(database);
  const states = await retryUntilAvailable(connection, () => readStreamStates(manager));
  const since = new Date(restoredTo.getTime() - clockMarginMs);
  const kept = states.filter(({ stream }) => stream.keepsStored);
  return Promise.all(
    kept.map(async (state) => {
      const position = positions.find((one) => isOf(one, state));
      const byTime = await retryUntilAvailable(connection, () => findSequence(manager, state, since));
      const completeUpTo =
        position === undefined
          ? { sequence: completeByTime(state, since, byTime), at: since }
          : { sequence: position.storedUpTo, at: position.updatedAt };
      const fromSequence = Math.max(1, state.firstSequence, Math.min(completeUpTo.sequence + 1, byTime));
      const missing = await retryUntilAvailable(connection, () => findMissing(manager, state, completeUpTo));
      const replay = {
        stream: state.stream.name,
        fromSequence,
        toSequence: state.lastSequence,
        messages: Math.max(0, state.lastSequence - fromSequence + 1),
        missing: missing && {
          ...missing,
          events: await countLost(database, state, {
            after: completeUpTo.sequence,
            upTo: missing.toSequence,
          }),
        },
      };
      return { state, replay, completeUpTo };
    }),
  );
}

/** Reads no position: the messages before that time, if the stream has them. Otherwise any may be missing. */
function completeByTime({ firstAt }: StreamState, since: Date, byTime: number): number {
  return firstAt !== undefined && firstAt < since ? byTime - 1 : 0;
}

/** A stream that was created again has other messages under the same sequences. */
function isOf({ stream, createdAt, storedUpTo }: StoredPosition, state: StreamState): boolean {
  return (
    stream === state.stream.name &&
    createdAt.getTime() === state.createdAt.getTime() &&
    storedUpTo <= state.lastSequence
  );
}

/** The first message accepted at this time or later; after the last one when there is none. */
async function findSequence(
  manager: JetStreamManager,
  { stream, firstSequence, firstAt, lastSequence }: StreamState,
  since: Date,
): Promise<number> {
  if (firstAt === undefined) return lastSequence + 1;
  if (firstAt >= since) return firstSequence;
  // By bisection, because nats-server answers a query by time from 2.12 on only.
  let [before, from] = [firstSequence, lastSequence + 1];
  while (from - before > 1) {
    const middle = before + Math.floor((from - before) / 2);
    const query = { seq: middle, next_by_subj: stream.subject };
    const message = await findIfExists(() => manager.streams.getMessage(stream.name, query));
    if (message == null || message.time >= since) from = middle;
    else before = middle;
  }
  return from;
}

/** What was purged, or removed from between others, although the database may lack it. */
async function findMissing(
  manager: JetStreamManager,
  state: StreamState,
  { sequence: storedUpTo, at: from }: { sequence: number; at: Date },
): Promise<Omit<MissingMessages, 'events'> | undefined> {
  const { firstSequence, lastSequence, firstAt, lastAt } = state;
  const purged = Math.max(0, firstSequence - 1 - storedUpTo);
  const removed = (await readRemoved(manager, state)).filter((sequence) => sequence > storedUpTo);
  if (purged + removed.length === 0) return undefined;
  return {
    fromSequence: purged > 0 ? storedUpTo + 1 : (removed[0] ?? lastSequence),
    toSequence: removed.at(-1) ?? firstSequence - 1,
    messages: purged + removed.length,
    from,
    to: removed.length > 0 ? lastAt : (firstAt ?? null),
  };
}

/** The sequences between the first and the last message that were removed, in order. */
async function readRemoved(manager: JetStreamManager, { stream, removed }: StreamState): Promise<number[]> {
  if (removed === 0) return [];
  const { state } = await manager.streams.info(stream.name, { deleted_details: true });
  return state.deleted ?? [];
}

async function moveConsumer(manager: JetStreamManager, stream: string, fromSequence: number): Promise<void> {
  await manager.consumers.delete(stream, consumerName).catch((error: unknown) => {
    if (!(error instanceof JetStreamApiError && error.status === 404)) throw error;
  });
  await manager.consumers.add(stream, consumerFrom(fromSequence));
}
