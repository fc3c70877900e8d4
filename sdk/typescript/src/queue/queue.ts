import { queueBytesMax, queueEventsMax } from '../limits.ts';

/** A waiting event: its snapshot as JSON in UTF-8. */
export interface QueuedEvent {
  readonly id: string;
  readonly bytes: Uint8Array;
  /** When it was recorded, `Date.now()`. */
  readonly atMs: number;
}

/**
 * The events in memory, oldest first, bounded by count and bytes. Taken events count until they are settled.
 */
export class Queue {
  #events: QueuedEvent[] = [];
  #waitingBytes = 0;
  #takenEvents = 0;
  #takenBytes = 0;

  get length(): number {
    return this.#events.length;
  }

  get bytes(): number {
    return this.#waitingBytes;
  }

  /**
   * @returns false when the event does not fit. The newest event is dropped, so that waiting events stay in
   * order.
   */
  push(event: QueuedEvent): boolean {
    const isFull =
      this.#events.length + this.#takenEvents >= queueEventsMax ||
      this.#waitingBytes + this.#takenBytes + event.bytes.length > queueBytesMax;
    if (isFull) return false;
    this.#events.push(event);
    this.#waitingBytes += event.bytes.length;
    return true;
  }

  /**
   * Takes the oldest events within both limits, at least one. They count against the bounds until `settle`.
   */
  take(eventsMax = Number.POSITIVE_INFINITY, bytesMax = Number.POSITIVE_INFINITY): QueuedEvent[] {
    let count = 0;
    let bytes = 0;
    for (const event of this.#events) {
      // One byte for the comma.
      if (count > 0 && (count === eventsMax || bytes + event.bytes.length + 1 > bytesMax)) break;
      bytes += event.bytes.length + 1;
      count++;
    }
    const taken = this.#events.splice(0, count);
    this.#account(taken, 1);
    return taken;
  }

  /** Takes the events that were recorded before a time. */
  takeBefore(atMs: number): QueuedEvent[] {
    const index = this.#events.findIndex((event) => event.atMs >= atMs);
    const taken = this.#events.splice(0, index === -1 ? this.#events.length : index);
    this.#account(taken, 1);
    return taken;
  }

  /** Frees the room of taken events, which were delivered, dropped or spooled. */
  settle(events: readonly QueuedEvent[]): void {
    this.#takenEvents -= events.length;
    for (const { bytes } of events) this.#takenBytes -= bytes.length;
  }

  putBack(events: readonly QueuedEvent[]): void {
    if (events.length === 0) return;
    this.#events = [...events, ...this.#events];
    this.#account(events, -1);
  }

  #account(events: readonly QueuedEvent[], sign: 1 | -1): void {
    const sum = events.reduce((total, { bytes }) => total + bytes.length, 0);
    this.#waitingBytes -= sign * sum;
    this.#takenEvents += sign * events.length;
    this.#takenBytes += sign * sum;
  }
}
