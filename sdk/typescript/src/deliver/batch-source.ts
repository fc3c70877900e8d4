import { batchEventsMax, eventBytesMax, memoryAgeMaxMs } from '../limits.ts';
import type { Counters } from '../queue/counters.ts';
import type { Queue, QueuedEvent } from '../queue/queue.ts';
import type { SpoolStore } from '../queue/spool-store.ts';
import type { Runtime } from '../runtime/runtime.ts';

export interface BatchSourceOptions {
  queue: Queue;
  spool: SpoolStore | undefined;
  counters: Counters;
  runtime: Runtime;
}

/** Events that are sent together. */
export interface Batch {
  /** The events that are not settled yet. */
  readonly events: QueuedEvent[];
  readonly isSpooled: boolean;
  /** Call when all events are settled: frees their memory or disk space. */
  release(): void;
  /** @returns the events that are not settled, for the queue. */
  abandon(): QueuedEvent[];
}

/**
 * The events that wait to be sent. With a spool each is on disk before the application goes on, and stays
 * there until Weir has accepted it: neither a signal nor a crash loses it. Memory holds the events that the
 * disk has no room for.
 */
export class BatchSource {
  readonly #options: BatchSourceOptions;
  /** The batch of a failed request. */
  #kept: Batch | undefined;
  #inFlight: Batch | undefined;

  constructor(options: BatchSourceOptions) {
    this.#options = options;
  }

  /** Whether a batch waits for its retry. */
  get isRetrying(): boolean {
    return this.#kept !== undefined;
  }

  get pending(): number {
    const { queue, spool } = this.#options;
    const batch = this.#kept ?? this.#inFlight;
    const inBatch = batch && !batch.isSpooled ? batch.events.length : 0;
    return queue.length + inBatch + (spool?.events ?? 0);
  }

  /** Bytes in memory and on disk, except for those in flight from memory. */
  get bytes(): number {
    const { queue, spool } = this.#options;
    return queue.bytes + (spool?.bytes ?? 0);
  }

  /** @returns false when neither the disk nor memory has room for the event. */
  push(event: QueuedEvent): boolean {
    const { queue, spool } = this.#options;
    return spool?.append([event]) === 1 || queue.push(event);
  }

  async next(): Promise<Batch | undefined> {
    this.expire();
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept && kept.events.length > 0) return kept;
    kept?.release();
    // Memory first: its events are lost in a crash.
    return this.takeMemory() ?? (await this.#nextSpooled());
  }

  /** The oldest events in memory, as one batch. */
  takeMemory(bytesMax: number = eventBytesMax): Batch | undefined {
    const { queue } = this.#options;
    const events = queue.take(batchEventsMax, bytesMax);
    if (events.length === 0) return undefined;
    const taken = [...events];
    return {
      events,
      isSpooled: false,
      release: () => queue.settle(taken),
      abandon() {
        const left = new Set(events);
        queue.settle(taken.filter((event) => !left.has(event)));
        return events;
      },
    };
  }

  /** Waits for an outcome, during which the events of the batch are pending. */
  async watch<T>(batch: Batch, outcome: Promise<T>): Promise<T> {
    this.#inFlight = batch;
    try {
      return await outcome;
    } finally {
      this.#inFlight = undefined;
    }
  }

  /** Keeps a batch whose request failed, for `next`. */
  keep(batch: Batch): void {
    this.#kept = batch;
    this.expire();
  }

  /** Drops what is too old in memory, if there is no spool. */
  expire(): void {
    const { spool, queue, counters, runtime } = this.#options;
    if (spool) return;
    const oldestMs = runtime.wallMs() - memoryAgeMaxMs;
    const { events: kept = [] } = this.#kept ?? {};
    const fresh = kept.filter(({ atMs }) => atMs >= oldestMs);
    const expired = queue.takeBefore(oldestMs);
    counters.drop('expired', kept.length - fresh.length + expired.length);
    kept.splice(0, kept.length, ...fresh);
    queue.settle(expired);
  }

  /**
   * Writes all events in memory to the spool, synchronously. Without a spool they are dropped and counted.
   */
  saveAll(): void {
    const { spool, queue, counters } = this.#options;
    const batch = this.#kept ?? this.#inFlight;
    const events = queue.take();
    queue.settle(events);
    const unsaved = [...(batch && !batch.isSpooled ? batch.events.splice(0) : []), ...events];
    const appended = spool?.append(unsaved) ?? 0;
    counters.drop(spool ? 'queue_full' : 'unsent', unsaved.length - appended);
    spool?.close();
  }

  async #nextSpooled(): Promise<Batch | undefined> {
    const { spool, counters } = this.#options;
    const spooled = await spool?.next((reason, events) => counters.drop(reason, events));
    if (spooled === undefined) return undefined;
    return { events: spooled.events, isSpooled: true, release: () => spooled.release(), abandon: () => [] };
  }
}
