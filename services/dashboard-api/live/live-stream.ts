import { setTimeout as sleep } from 'node:timers/promises';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { comparePositions, type TailPosition } from '../../../lib/tail/position.ts';
import type { EncodedMessage } from './encoded-message.ts';
import { liveQueueBytesMax } from './limits.ts';
import type { LiveBatch } from './live-batch.ts';
import type { QueueBudget } from './queue-budget.ts';
import type { FeedMember } from './space-feed.ts';

/**
 * The queue of one live stream: what the feed has read and the client has not taken. It is bounded. A client that is too slow
 * loses its place in the feed, not its events: it catches up from its own position.
 */
export class LiveStream implements FeedMember {
  readonly filterKey: string;
  readonly filter: EventFilter;
  /** Whether the feed fills the queue. */
  isMember = false;
  isDelayed = false;
  readonly #budget: QueueBudget;
  readonly #messages: EncodedMessage[] = [];
  #queuedBytes = 0;
  /** Everything up to here was taken or is queued. */
  #end: TailPosition;
  #changed = Promise.withResolvers<void>();

  constructor(filter: EventFilter, position: TailPosition, budget: QueueBudget) {
    this.filter = filter;
    this.filterKey = JSON.stringify(filter);
    this.#end = position;
    this.#budget = budget;
  }

  /** Everything up to here was taken, while nothing is queued. */
  get position(): TailPosition {
    return this.#end;
  }

  /** What the stream has read itself, and not from its queue. */
  set position(position: TailPosition) {
    this.#end = position;
  }

  receive(batches: readonly LiveBatch[], end: TailPosition): void {
    if (!this.isMember || comparePositions(end, this.#end) <= 0) return;
    for (const batch of batches) {
      // Without what it read itself before it joined.
      const message = batch.after(this.#end);
      if (message === undefined || this.#hold(message)) continue;
      this.part();
      return;
    }
    this.#end = end;
    this.#notify();
  }

  skip(message: EncodedMessage): void {
    if (!this.isMember) return;
    if (this.#hold(message)) this.#notify();
    else this.part();
  }

  part(): void {
    this.isMember = false;
    this.#notify();
  }

  setDelayed(isDelayed: boolean): void {
    this.isDelayed = isDelayed;
    this.#notify();
  }

  /** Takes the next message; undefined when nothing is queued. */
  take(): EncodedMessage | undefined {
    const message = this.#messages.shift();
    if (message !== undefined) this.#release(message);
    return message;
  }

  /** Resolves when something has changed, or after a time. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const timer = new AbortController();
    const over = sleep(ms, undefined, { signal: AbortSignal.any([signal, timer.signal]) }).catch(() => {});
    await Promise.race([this.#changed.promise, over]);
    timer.abort();
    this.#changed = Promise.withResolvers<void>();
  }

  /** Discards what is queued. */
  close(): void {
    this.isMember = false;
    for (const message of this.#messages.splice(0)) this.#release(message);
  }

  /** @returns whether there was room for it. The first message always has room in the queue. */
  #hold(message: EncodedMessage): boolean {
    const bytes = this.#queuedBytes + message.bytes.length;
    if (this.#messages.length > 0 && bytes > liveQueueBytesMax) return false;
    if (!this.#budget.hold(message)) return false;
    this.#messages.push(message);
    this.#queuedBytes = bytes;
    this.#end = message.end;
    return true;
  }

  #release(message: EncodedMessage): void {
    this.#queuedBytes -= message.bytes.length;
    this.#budget.release(message);
  }

  #notify(): void {
    this.#changed.resolve();
  }
}
