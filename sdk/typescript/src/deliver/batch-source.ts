import { batchEventsMax, eventBytesMax, flushBytes, memoryAgeMaxMs, slowRequestMs } from '../limits.ts';
import type { Counters } from '../queue/counters.ts';
import type { Queue, QueuedEvent } from '../queue/queue.ts';
import type { HeldBatch, SpoolStore } from '../queue/spool-store.ts';
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
  /** The copy on disk of a batch from memory. */
  held?: HeldBatch | undefined;
}

/** Decides where the next batch comes from: memory, or the spool from the first failure until the spool is empty. */
export class BatchSource {
  readonly #options: BatchSourceOptions;
  readonly #onSpooling: (isUrgent: boolean) => void;
  /** The batch of a failed request. */
  #kept: Batch | undefined;
  #inFlight: Batch | undefined;
  #isSpooling = false;

  /** @param onSpooling called when more events should go to the spool: soon, or at once if there are many (`isUrgent`). */
  constructor(options: BatchSourceOptions, onSpooling: (isUrgent: boolean) => void) {
    this.#options = options;
    this.#onSpooling = onSpooling;
  }

  get isSpooling(): boolean {
    return this.#isSpooling;
  }

  /** Whether a batch waits for its retry. */
  get isRetrying(): boolean {
    return this.#kept !== undefined;
  }

  get pending(): number {
    const { queue, spool } = this.#options;
    const batch = this.#kept ?? this.#inFlight;
    // The spool does not count the copy of a batch in flight.
    const inBatch = batch && !batch.isSpooled ? batch.events.length : 0;
    return queue.length + inBatch + (spool?.events ?? 0);
  }

  startSpooling(): void {
    this.#isSpooling = true;
    this.#onSpooling(false);
  }

  async next(): Promise<Batch | undefined> {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept && !kept.isSpooled) this.#expire(kept);
    if (kept && kept.events.length > 0) return kept;
    kept?.release();
    return (this.#isSpooling && (await this.#nextSpooled())) || this.takeMemory();
  }

  /** The oldest events in memory, as one batch. */
  takeMemory(bytesMax: number = eventBytesMax): Batch | undefined {
    const { queue } = this.#options;
    const events = queue.take(batchEventsMax, bytesMax);
    if (events.length === 0) return undefined;
    const taken = [...events];
    const batch: Batch = {
      events,
      isSpooled: false,
      release() {
        queue.settle(taken);
        batch.held?.release();
      },
      abandon() {
        const left = new Set(events);
        queue.settle(taken.filter((event) => !left.has(event)));
        return events;
      },
    };
    return batch;
  }

  /** Waits for an outcome. After `slowRequestMs` the batch is copied to the spool, in case the process ends. */
  async watch<T>(batch: Batch, outcome: Promise<T>): Promise<T> {
    const { spool, runtime } = this.#options;
    this.#inFlight = batch;
    const cancel =
      spool && !batch.isSpooled
        ? runtime.setTimer(() => {
            this.#hold(batch);
            this.startSpooling();
          }, slowRequestMs)
        : undefined;
    try {
      return await outcome;
    } finally {
      cancel?.();
      this.#inFlight = undefined;
    }
  }

  /** Keeps a batch whose request failed: on disk if there is room, otherwise in memory. */
  keep(batch: Batch): void {
    const { spool } = this.#options;
    if (spool) this.startSpooling();
    if (spool && !batch.isSpooled) this.#hold(batch);
    if (batch.held) {
      batch.held.keep();
      batch.held = undefined;
      batch.release();
    } else {
      this.#kept = batch;
    }
    if (!spool) this.expire();
  }

  /** Drops what is too old in memory, if there is no spool. */
  expire(): void {
    const { spool, queue, counters } = this.#options;
    if (spool) return;
    if (this.#kept) this.#expire(this.#kept);
    const expired = queue.takeBefore(this.#oldestMs);
    queue.settle(expired);
    counters.drop('expired', expired.length);
  }

  /** Moves events from memory to the spool, about 1 MiB at a time so that the event loop is not blocked. */
  moveToSpool(): void {
    const { spool, queue } = this.#options;
    if (!spool || !this.#isSpooling) return;
    const events = queue.take(Number.POSITIVE_INFINITY, flushBytes);
    const appended = spool.append(events);
    queue.settle(events.slice(0, appended));
    queue.putBack(events.slice(appended));
    // Continue while there is more. A fixed rate would let memory fill up although the disk has room.
    if (appended > 0 && queue.length > 0) this.#onSpooling(queue.bytes >= flushBytes);
  }

  /** Writes all events in memory to the spool, synchronously. Without a spool they are dropped and counted. */
  saveAll(): void {
    const { spool, queue, counters } = this.#options;
    const batch = this.#kept ?? this.#inFlight;
    const isInMemory = batch && !batch.isSpooled && !batch.held;
    const events = queue.take(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    queue.settle(events);
    const unsaved = [...(isInMemory ? batch.events.splice(0) : []), ...events];
    const appended = spool?.append(unsaved) ?? 0;
    counters.drop(spool ? 'queue_full' : 'unsent', unsaved.length - appended);
    spool?.close();
  }

  async #nextSpooled(): Promise<Batch | undefined> {
    const { spool, counters } = this.#options;
    const spooled = await spool?.next((reason, events) => counters.drop(reason, events));
    if (spooled) {
      return { events: spooled.events, isSpooled: true, release: () => spooled.release(), abandon: () => [] };
    }
    this.#isSpooling = false;
    return undefined;
  }

  #hold(batch: Batch): void {
    if (batch.events.length > 0) batch.held ??= this.#options.spool?.hold(batch.events);
  }

  #expire(batch: Batch): void {
    const fresh = batch.events.filter(({ atMs }) => atMs > this.#oldestMs);
    this.#options.counters.drop('expired', batch.events.length - fresh.length);
    batch.events.splice(0, batch.events.length, ...fresh);
  }

  get #oldestMs(): number {
    return this.#options.runtime.wallMs() - memoryAgeMaxMs;
  }
}
