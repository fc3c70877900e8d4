import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { retryUntilAvailable } from '../../platform/queue/availability.ts';
import { minuteMs } from '../../platform/time.ts';
import type { ControlStart } from '../../store/control/stream.ts';
import type { Database } from '../../store/db/database.ts';
import { type StreamReplay, startReplay } from '../../store/queue-state/replay.ts';
import type { LostEvents } from '../../store/queue-state/stored-counts.ts';
import { readStoredPositions } from '../../store/queue-state/stored-positions.ts';
import { readStreamStates } from '../../store/queue-state/stream-state.ts';
import { type AppliedChanges, applyControlChanges } from './apply-changes.ts';

export interface CaughtUp {
  readonly control: AppliedChanges;
  readonly queue: readonly StreamReplay[];
  /** A sentence each. */
  readonly lost: readonly string[];
}

export interface CatchUpOptions {
  restoredTo: Date;
  /** Where the control stream was at the backup. By default some minutes before `restoredTo`. */
  controlStart?: ControlStart | undefined;
  report(line: string): void;
}

/** Clocks of nats-server and Postgres may differ by a minute, and a change is relayed later than made. */
const controlMarginMs = 10 * minuteMs;

/**
 * Brings a restored database up to now: revocations, erasures, and what the queue delivers again. Only ingest
 * may run. Can be repeated.
 * @param database as the owner of the tables, of one connection without a statement time-out, with the schema
 * of this version.
 */
export async function catchUp(
  database: Database,
  connection: NatsConnection,
  { restoredTo, controlStart, report }: CatchUpOptions,
): Promise<CaughtUp> {
  report('applying the changes of keys, spaces, users and erasures since then');
  const start = controlStart ?? { time: new Date(restoredTo.getTime() - controlMarginMs) };
  const control = await applyControlChanges(database, connection, { start, report });
  const lost = await findLostStreams(database, connection, restoredTo);
  const queue = await startReplay(connection, database, restoredTo);
  for (const { stream, messages } of queue) report(`${stream} delivers up to ${messages} messages again`);
  return { control, queue, lost: [...lost, ...queue.flatMap(describeMissing), ...describeGap(control)] };
}

function describeMissing({ stream, missing }: StreamReplay): string[] {
  if (missing === undefined) return [];
  const { messages, fromSequence, toSequence, from, to, events } = missing;
  return [
    `${stream} no longer has ${messages} messages (${fromSequence} to ${toSequence}) that were accepted between ` +
      `${from.toISOString()} and ${to?.toISOString() ?? 'now'}. Events of them that were stored after ${from.toISOString()} are lost: ${describeEvents(events)}.`,
  ];
}

function describeEvents({ atLeast, atMost }: LostEvents): string {
  if (atLeast === atMost) return `${atLeast} events`;
  if (atMost !== null) return `between ${atLeast} and ${atMost} events`;
  return atLeast === 0 ? 'how many is not known' : `at least ${atLeast} events`;
}

function describeGap({ gap }: AppliedChanges): string[] {
  if (gap === undefined) return [];
  const lost =
    gap === 'all'
      ? 'since the backup, because nats-server does not have the control stream that it knows'
      : 'until' in gap
        ? `before ${gap.until.toISOString()}`
        : `with the sequences ${gap.fromSequence} to ${gap.throughSequence}`;
  return [
    `Changes of keys, spaces and users, and erasures, are lost: those ${lost}. Check which keys are revoked, and erase again what was erased.`,
  ];
}

/** Streams with nothing to deliver again: work queues, and replaced ones. */
async function findLostStreams(
  database: Database,
  connection: NatsConnection,
  restoredTo: Date,
): Promise<string[]> {
  const manager = await retryUntilAvailable(connection, () => jetstreamManager(connection));
  const states = await retryUntilAvailable(connection, () => readStreamStates(manager));
  const workQueues = states
    .filter(
      ({ stream, lastSequence, storedUpTo }) => !stream.keepsStored && lastSequence > 0 && storedUpTo > 0,
    )
    .map(
      ({ stream }) =>
        `${stream.name} keeps nothing that is stored (REPLAY_WINDOW_HOURS): events of it that were stored after ${restoredTo.toISOString()} are lost.`,
    );
  const positions = await readStoredPositions(database);
  const replaced = positions
    .filter(({ stream, createdAt }) =>
      states.every(
        (state) => state.stream.name !== stream || state.createdAt.getTime() !== createdAt.getTime(),
      ),
    )
    .map(
      ({ stream, storedUpTo, updatedAt }) =>
        `${stream} is not the stream that this database was stored from: what it accepted after sequence ${storedUpTo}, which was stored by ${updatedAt.toISOString()}, is lost.`,
    );
  return [...workQueues, ...replaced];
}
