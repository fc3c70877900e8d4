import { setTimeout as sleep } from 'node:timers/promises';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { comparePositions, type TailPosition } from '../../../lib/tail/position.ts';
import type { TailLag } from '../../../lib/tail/stored-entries.ts';
import { liveMessageEventsMax, liveQueueEventsMax } from './limits.ts';
import type { LiveEvent } from './live-page.ts';
import type { QueueBudget } from './queue-budget.ts';
import type { FeedMember } from './space-feed.ts';

/** What a stream takes out of its queue: its client gets it as one message, or it only moves on. */
export interface LiveItem {
  readonly events: readonly LiveEvent[];
  readonly end: TailPosition;
  readonly skipped?: { readonly after: TailPosition; readonly lag: TailLag };
}

/**
 * The queue of one live stream: what the feed has read and the client has not taken. It is bounded. A client that is too slow
 * loses its place in the feed, not its events: it catches up from its own position.
 */
export class LiveStream implements FeedMember {
  readonly filterKey: string;
  readonly filter: EventFilter;
  /** Everything up to here was taken. */
  position: TailPosition;
  /** Whether the feed fills the queue. */
  isMember = false;
  isDelayed = false;
  readonly #budget: QueueBudget;
  #items: LiveItem[] = [];
  #queued = 0;
  #changed = Promise.withResolvers<void>();

  constructor(filter: EventFilter, position: TailPosition, budget: QueueBudget) {
    this.filter = filter;
    this.filterKey = JSON.stringify(filter);
    this.position = position;
    this.#budget = budget;
  }

  receive(events: readonly LiveEvent[], end: TailPosition): void {
    if (!this.isMember) return;
    // What it read itself before it joined.
    const fresh = events.filter(({ position }) => comparePositions(position, this.#end) > 0);
    if (comparePositions(end, this.#end) <= 0) return;
    const isFull = this.#queued > 0 && this.#queued + fresh.length > liveQueueEventsMax;
    if (isFull || !this.#budget.take(fresh.length)) {
      this.part();
      return;
    }
    const last = this.#items.at(-1);
    // A position alone replaces the one before: a stream whose filter matches nothing must not grow.
    if (fresh.length === 0 && last?.events.length === 0 && last.skipped === undefined) this.#items.pop();
    this.#items.push({ events: fresh, end });
    this.#queued += fresh.length;
    this.#notify();
  }

  skip(after: TailPosition, lag: TailLag): void {
    if (!this.isMember) return;
    this.#items.push({ events: [], end: lag.edge, skipped: { after, lag } });
    this.#notify();
  }

  part(): void {
    this.isMember = false;
    this.#notify();
  }

  setDelayed(isDelayed: boolean): void {
    this.isDelayed = isDelayed;
    this.#notify();
  }

  /** Takes what one message can hold; undefined when nothing is queued. */
  take(): LiveItem | undefined {
    const first = this.#items.shift();
    if (first === undefined) return undefined;
    let { events, end } = first;
    while (first.skipped === undefined && events.length < liveMessageEventsMax) {
      const next = this.#items[0];
      if (next === undefined || next.skipped !== undefined) break;
      this.#items.shift();
      events = [...events, ...next.events];
      end = next.end;
    }
    const rest = events.slice(liveMessageEventsMax);
    const taken = events.slice(0, liveMessageEventsMax);
    if (rest.length > 0) this.#items.unshift({ events: rest, end });
    this.#queued -= taken.length;
    this.#budget.give(taken.length);
    this.position = rest.length > 0 ? (taken.at(-1)?.position ?? this.position) : end;
    return { ...first, events: taken, end: this.position };
  }

  /** Resolves when something has changed, or after a time. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const timer = new AbortController();
    const over = sleep(ms, undefined, { signal: AbortSignal.any([signal, timer.signal]) }).catch(() => {});
    await Promise.race([this.#changed.promise, over]);
    timer.abort();
    this.#changed = Promise.withResolvers<void>();
  }

  /** Lets go of what is queued. */
  close(): void {
    this.isMember = false;
    this.#budget.give(this.#queued);
    this.#items = [];
    this.#queued = 0;
  }

  /** Everything up to here was taken or is queued. */
  get #end(): TailPosition {
    return this.#items.at(-1)?.end ?? this.position;
  }

  #notify(): void {
    this.#changed.resolve();
  }
}
