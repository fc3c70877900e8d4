import type { Logger } from '../../platform/log.ts';
import { decodeGroup, type Group, readerVersion } from '../../platform/queue/group.ts';
import type { Database } from '../../store/db/database.ts';
import { requireWellFormed } from '../../store/write/well-formed.ts';
import { Backlog } from './backlog.ts';
import type { Delivered } from './delivered.ts';
import { eventsPerStatementMax, statementBytesMax } from './limits.ts';
import { MessageStore } from './message-store.ts';
import { whileBusy } from './metrics.ts';
import type { StoreListeners } from './parts/part-store.ts';
import { correctReceipts } from './receipt-time.ts';

export interface StoreDependencies extends Partial<StoreListeners> {
  database: Database;
  log: Logger;
  /** The number of workers. Each runs one statement at a time. */
  concurrency: number;
  /** Least time between two statements that are not full; default 0. */
  gatherMs?: number;
  /** For each stream, the sequence up to which a replay delivers messages again. */
  replays?: ReadonlyMap<string, number>;
}

/**
 * Moves messages from the queue into Postgres. While all workers are busy, messages wait, and the next free
 * one takes what fits into a statement: under load statements grow; otherwise a message is stored at once, or
 * on Citus a moment later (`clusterGatherMs`). A message is acknowledged after its COMMIT. After a transient
 * failure it is redelivered; events that Postgres refuses go to quarantine (storeParts), and if that fails,
 * too, their message is retried with growing delays. Disposing finishes what is being stored, and returns the
 * rest to the queue.
 */
export function startStoreWorkers({
  database,
  log,
  concurrency,
  onStored = () => {},
  onUnresolved = () => {},
  gatherMs = 0,
  replays = new Map(),
}: StoreDependencies) {
  const backlog = new Backlog<Delivered>(eventsPerStatementMax, statementBytesMax, gatherMs);
  const store = new MessageStore(database, log, { onStored, onUnresolved });
  const runWorker = async () => {
    for (let taken = await backlog.take(); taken !== undefined; taken = await backlog.take())
      await whileBusy(() => store.store(taken));
  };
  const workers = Array.from({ length: concurrency }, runWorker);
  const quarantining = new Set<Promise<void>>();

  return {
    /** When it last stored messages, by `performance.now()`. */
    get lastStoredAtMs() {
      return store.lastStoredAtMs;
    },
    /** The failed nodes of the database, and the spaces that wait for them. */
    get failedNodes() {
      return store.failedNodes;
    },
    room: async () => concurrency * (await backlog.room()),
    receive(message: Delivered) {
      store.hold(message);
      const group = tryDecode(message, replays.get(message.position.stream) ?? 0);
      if (!(group instanceof Error)) {
        if (group.minReader > readerVersion) return store.leaveToNewer(message, group.minReader);
        const events = correctReceipts(group, message.queuedAtMs);
        if (events > 0) log.error({ events }, "ALARM: an ingest's clock was behind when it received events");
        return backlog.add(message, group, message.data.length);
      }
      const done = store.quarantine(message, group).finally(() => quarantining.delete(done));
      quarantining.add(done);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      store.release(backlog.close());
      await Promise.all([...workers, ...quarantining]);
      store[Symbol.dispose]();
    },
  };
}

function tryDecode({ data, position }: Delivered, replayUpTo: number): Group | Error {
  try {
    const group = decodeGroup(data);
    // A newer format cannot be checked here.
    if (group.minReader > readerVersion) return group;
    for (const part of group.parts) {
      part.queueStream = position.stream;
      part.queueSequence = BigInt(position.sequence);
      part.replayed = position.sequence <= replayUpTo;
      requireWellFormed(part);
    }
    return group;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
