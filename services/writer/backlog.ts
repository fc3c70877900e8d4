import type { Group, Part, TraceNodes } from '../../platform/queue/group.ts';

export interface BacklogEntry<Message> {
  readonly message: Message;
  readonly parts: readonly Part[];
  readonly traceNodes: readonly TraceNodes[];
}

interface WaitingEntry<Message> extends BacklogEntry<Message> {
  readonly events: number;
  readonly bytes: number;
}

/** Smoothing factor of the exponentially weighted moving average. */
const averagingShare = 1 / 16;

/**
 * Messages that wait for a worker. While a full statement waits no more are pulled (`room`), then about one
 * statement for each worker: memory stays bounded while Postgres is slow or away.
 */
export class Backlog<Message> {
  readonly #eventsMax: number;
  readonly #bytesMax: number;
  readonly #gatherMs: number;
  #entries: WaitingEntry<Message>[] = [];
  #bytes = 0;
  #events = 0;
  /** Average share of a statement for each message. Until measured, each is expected to fill one. */
  #shareMean = 1;
  #closed = false;
  /** Runs for `gatherMs` after each take. */
  #gathering: NodeJS.Timeout | undefined;
  #changed = Promise.withResolvers<void>();

  /**
   * @param eventsMax with `bytesMax` the bounds of one statement, except for a single larger message.
   * @param gatherMs least time between two statements that are not full; 0: a message never waits for others.
   */
  constructor(eventsMax: number, bytesMax: number, gatherMs = 0) {
    this.#eventsMax = eventsMax;
    this.#bytesMax = bytesMax;
    this.#gatherMs = gatherMs;
  }

  /**
   * Waits until less than one full statement waits, or the backlog is closed.
   * @returns how many messages fill a statement, on average: at least 1.
   */
  async room(): Promise<number> {
    while ((this.#bytes >= this.#bytesMax || this.#events >= this.#eventsMax) && !this.#closed)
      await this.#changed.promise;
    return Math.max(1, 1 / this.#shareMean);
  }

  add(message: Message, { parts, traceNodes }: Pick<Group, 'parts' | 'traceNodes'>, bytes: number): void {
    const events = parts.reduce((sum, part) => sum + part.eventCount, 0);
    this.#entries.push({ message, parts, traceNodes, events, bytes });
    this.#bytes += bytes;
    this.#events += events;
    const share = Math.max(events / this.#eventsMax, bytes / this.#bytesMax);
    this.#shareMean += (share - this.#shareMean) * averagingShare;
    this.#notify();
  }

  /**
   * Waits for a message, then for `gatherMs` since the last take or a full statement; takes what one
   * statement holds. @returns undefined when the backlog is closed.
   */
  async take(): Promise<readonly BacklogEntry<Message>[] | undefined> {
    while (!this.#isReady() && !this.#closed) await this.#changed.promise;
    if (this.#closed) return undefined;
    let count = 0;
    let events = 0;
    let bytes = 0;
    for (const entry of this.#entries) {
      events += entry.events;
      bytes += entry.bytes;
      if (count > 0 && (events > this.#eventsMax || bytes > this.#bytesMax)) break;
      count += 1;
    }
    const taken = this.#entries.splice(0, count);
    this.#events -= taken.reduce((sum, entry) => sum + entry.events, 0);
    this.#bytes -= taken.reduce((sum, entry) => sum + entry.bytes, 0);
    this.#gather();
    this.#notify();
    return taken;
  }

  /** Resolves all waiting calls. @returns the messages that were not taken. */
  close(): Message[] {
    this.#closed = true;
    clearTimeout(this.#gathering);
    this.#notify();
    return this.#entries.splice(0).map((entry) => entry.message);
  }

  #isReady(): boolean {
    const isFull = this.#events >= this.#eventsMax || this.#bytes >= this.#bytesMax;
    return this.#entries.length > 0 && (this.#gathering === undefined || isFull);
  }

  #gather(): void {
    if (this.#gatherMs === 0) return;
    clearTimeout(this.#gathering);
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      this.#notify();
    }, this.#gatherMs);
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
