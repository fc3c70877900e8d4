import type { ConsumerInfo, JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import { allStreams, consumerName, type QueueStream } from '../../platform/queue/settings.ts';
import { findIfExists } from '../../platform/queue/stream.ts';

/** A stream of the queue at one time. Sequences and times are those of nats-server. */
export interface StreamState {
  readonly stream: QueueStream;
  readonly createdAt: Date;
  readonly nowMs: number;
  /** The oldest message that is kept; above `lastSequence` when there is none. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Messages that are kept: those that are not stored, and in a replay window also those that are. */
  readonly messages: number;
  /** When the oldest of them was accepted; undefined without any. */
  readonly firstAt: Date | undefined;
  /** When the newest message, kept or not, was accepted; at first the stream's creation. */
  readonly lastAt: Date;
  /** Messages from between the first and the last one (services/writer/streams/window-purge.ts). */
  readonly removed: number;
  readonly bytes: number;
  readonly bytesMax: number;
  /** Every message up to this sequence is stored or in quarantine. */
  readonly storedUpTo: number;
  readonly pending: number;
  readonly hasConsumer: boolean;
  /** The nodes of a cluster that hold the stream; none for a single nats-server. */
  readonly nodes: QueueNode[];
}

/** A nats-server with a copy of a stream. `behind`: it has not caught up yet. */
export interface QueueNode {
  readonly name: string;
  readonly state: 'leader' | 'current' | 'behind' | 'offline';
}

/** @returns undefined when the stream does not exist. */
export async function readStreamState(
  manager: JetStreamManager,
  stream: QueueStream,
): Promise<StreamState | undefined> {
  // Read first: a message that is published in between counts as not stored, and never as stored.
  const consumer = await findIfExists(() => manager.consumers.info(stream.name, consumerName));
  const info = await findIfExists(() => manager.streams.info(stream.name));
  if (info === undefined) return undefined;
  const { state, config } = info;
  return {
    stream,
    createdAt: new Date(info.created),
    nowMs: serverTimeMs(info),
    firstSequence: state.first_seq,
    lastSequence: state.last_seq,
    messages: state.messages,
    firstAt: state.messages === 0 ? undefined : new Date(state.first_ts),
    lastAt: new Date(Math.max(Date.parse(info.created), Date.parse(state.last_ts))),
    removed: state.num_deleted ?? 0,
    bytes: state.bytes,
    bytesMax: config.max_bytes,
    ...countPending(stream, info, consumer),
    hasConsumer: consumer !== undefined,
    nodes: nodesOf(info),
  };
}

export async function readStreamStates(manager: JetStreamManager): Promise<StreamState[]> {
  const states = await Promise.all(allStreams.map((stream) => readStreamState(manager, stream)));
  return states.filter((state) => state !== undefined);
}

/** When the oldest message that is not stored was accepted; undefined when all are stored. */
export async function readOldestPending(
  manager: JetStreamManager,
  { stream, pending, storedUpTo, firstAt }: StreamState,
): Promise<Date | undefined> {
  if (pending === 0) return undefined;
  if (!stream.keepsStored) return firstAt;
  const query = { seq: storedUpTo + 1, next_by_subj: stream.subject };
  // Without a message it was stored in the meantime.
  return (await findIfExists(() => manager.streams.getMessage(stream.name, query)))?.time;
}

/** Counts a work queue's messages below the consumer's position: they are delivered again. */
function countPending(
  { keepsStored }: QueueStream,
  { state }: StreamInfo,
  consumer: ConsumerInfo | undefined,
): Pick<StreamState, 'storedUpTo' | 'pending'> {
  const beforeFirst = Math.max(0, state.first_seq - 1);
  if (!keepsStored) return { storedUpTo: beforeFirst, pending: state.messages };
  if (consumer === undefined) return { storedUpTo: beforeFirst, pending: state.messages };
  const storedUpTo = Math.max(beforeFirst, Math.min(consumer.ack_floor.stream_seq, state.last_seq));
  return { storedUpTo, pending: consumer.num_pending + consumer.num_ack_pending };
}

/** The client's type lacks `ts`, which every supported nats-server sends. */
function serverTimeMs(info: StreamInfo & { ts?: string }): number {
  return info.ts === undefined ? Date.now() : Date.parse(info.ts);
}

function nodesOf({ cluster }: StreamInfo): QueueNode[] {
  if (cluster?.replicas === undefined) return [];
  const leader = cluster.leader ? [{ name: cluster.leader, state: 'leader' as const }] : [];
  const others = cluster.replicas.map(({ name, offline, current }): QueueNode => {
    return { name, state: offline ? 'offline' : current ? 'current' : 'behind' };
  });
  return [...leader, ...others].toSorted((a, b) => a.name.localeCompare(b.name));
}
