import type { EventFilter } from '../../../store/read/event-filter.ts';
import type { EventPredicate } from '../../../store/read/event-predicate.ts';
import { comparePositions, type TailPosition } from '../../../store/tail/position.ts';
import { liveQueueBytesMax, liveQueuedBytesMax } from './limits.ts';
import type { LiveChanges } from './live-changes.ts';
import { type SkippedCount, skippedMessage, type TrackedMessage, toTracked } from './live-message.ts';
import { type EventMessage, type LivePage, toEventMessages } from './live-page.ts';

export interface StreamFilter {
  readonly filter: EventFilter;
  readonly predicate: EventPredicate;
}

/** A bounded queue between feed and client: it is dropped when full, and the client gets `skipped`. */
export class StreamQueue implements Disposable {
  readonly filter: EventFilter;
  readonly #predicate: EventPredicate;
  readonly #total: { bytes: number };
  readonly #messages: EventMessage[] = [];
  #bytes = 0;
  #taken: TailPosition;
  /** Everything up to this position was taken, is queued, or is skipped. */
  #end: TailPosition;
  /** Whether everything after #taken is skipped. */
  #isSkipping = false;
  /** Events read since the client was last up to date. */
  #behind: SkippedCount = noneSkipped;
  #isDelayed = false;
  /** Changes taken, and queued, up to these numbers; undefined without changes. */
  #takenChange: number | undefined;
  #endChange: number | undefined;
  #changed = Promise.withResolvers<void>();

  /** @param after events up to this position are ignored. @param total the bytes of all queues. */
  constructor({ filter, predicate }: StreamFilter, after: TailPosition, total: { bytes: number }) {
    this.filter = filter;
    this.#predicate = predicate;
    this.#total = total;
    this.#taken = after;
    this.#end = after;
    this.#takenChange = after.change;
    this.#endChange = after.change;
  }

  /** Everything up to this position was taken. */
  get position(): TailPosition {
    return { ...this.#taken, change: this.#takenChange };
  }

  /** The last one received; undefined for a stream without changes. */
  get change(): number | undefined {
    return this.#endChange;
  }

  get isDelayed(): boolean {
    return this.#isDelayed;
  }

  set isDelayed(isDelayed: boolean) {
    if (isDelayed === this.#isDelayed) return;
    this.#isDelayed = isDelayed;
    this.notify();
  }

  /** Moves the start of the queue to a later position; earlier events do not come through it. */
  startAt(position: TailPosition): void {
    if (comparePositions(position, this.#end) <= 0) return;
    this.#taken = position;
    this.#end = position;
  }

  receive(page: LivePage): void {
    const start = this.#end;
    if (comparePositions(page.end, start) <= 0) return;
    this.#end = page.end;
    this.#addBehind({ events: page.count, isAtLeast: false });
    if (this.#isSkipping) return;
    const events = page
      .matching(this.#predicate)
      .filter(({ position }) => comparePositions(position, start) > 0);
    this.#add(toEventMessages(events, page.end));
  }

  /** A stream that skips gets no changes: its client knows that events are missing. */
  receiveChanges(changes: LiveChanges): void {
    const after = this.#endChange;
    if (after === undefined || changes.end <= after) return;
    this.#endChange = changes.end;
    if (!this.#isSkipping) this.#add(changes.messagesFor(this.#predicate, after));
  }

  #add(messages: readonly EventMessage[]): void {
    for (const message of messages) {
      const isFull = this.#bytes + message.bytes > liveQueueBytesMax;
      if (isFull || this.#total.bytes + message.bytes > liveQueuedBytesMax) {
        this.#skip();
        return;
      }
      this.#messages.push(message);
      this.#count(message.bytes);
    }
    if (this.#messages.length === 0) this.#noteAllTaken();
    else this.notify();
  }

  /** The feed skips everything up to a position. */
  skip(end: TailPosition, count: SkippedCount): void {
    this.#end = end;
    this.#addBehind(count);
    this.#skip();
  }

  /** @returns undefined when there is none. */
  take(): TrackedMessage | undefined {
    if (this.#isSkipping) {
      const after = this.#taken;
      const behind = this.#behind;
      this.#noteAllTaken();
      return skippedMessage({ after, end: this.position }, behind);
    }
    const message = this.#messages.shift();
    if (message === undefined) return undefined;
    this.#count(-message.bytes);
    this.#taken = message.end ?? this.#taken;
    this.#takenChange = message.change ?? this.#takenChange;
    if (this.#messages.length === 0) this.#noteAllTaken();
    return toTracked(this.position, message.message);
  }

  /** Resolves when something changed, or after `ms` milliseconds. */
  async wait(ms: number): Promise<void> {
    const timer = setTimeout(() => this.notify(), ms);
    await this.#changed.promise;
    clearTimeout(timer);
    this.#changed = Promise.withResolvers<void>();
  }

  notify(): void {
    this.#changed.resolve();
  }

  [Symbol.dispose](): void {
    this.#drop();
  }

  #skip(): void {
    this.#drop();
    this.#isSkipping = true;
    this.notify();
  }

  #addBehind({ events, isAtLeast }: SkippedCount): void {
    const behind = this.#behind;
    this.#behind = {
      events: events === null || behind.events === null ? null : behind.events + events,
      isAtLeast: behind.isAtLeast || isAtLeast,
    };
  }

  #noteAllTaken(): void {
    this.#taken = this.#end;
    this.#takenChange = this.#endChange;
    this.#behind = noneSkipped;
    this.#isSkipping = false;
  }

  #drop(): void {
    this.#messages.length = 0;
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#total.bytes += bytes;
  }
}

const noneSkipped: SkippedCount = { events: 0, isAtLeast: false };
