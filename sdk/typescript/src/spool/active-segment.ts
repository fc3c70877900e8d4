import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { QueuedEvent } from '../queue/queue.ts';
import { segmentBytesMax, segmentEventsMax } from './limits.ts';
import { composeLines, deleteSegment, type Segment } from './segment.ts';

/** The segment that events are appended to. Appends are synchronous, so that appended events survive `kill -9`. */
export class ActiveSegment {
  events = 0;
  bytes = 0;
  readonly #path: string;
  readonly #descriptor: number;
  #isBroken = false;

  /** @returns undefined when the file cannot be created. */
  static open(path: string): ActiveSegment | undefined {
    try {
      return new ActiveSegment(path, openSync(path, 'ax', 0o600));
    } catch {
      return undefined;
    }
  }

  /** Writes a whole segment. @returns undefined when the write fails. */
  static writeWhole(path: string, events: readonly QueuedEvent[]): Segment | undefined {
    const active = ActiveSegment.open(path);
    if (active === undefined) return undefined;
    const lines = composeLines(events);
    const isWritten = active.#write(lines);
    active.close();
    const segment = { path, events: events.length, bytes: lines.length };
    if (!isWritten) deleteSegment(segment);
    return isWritten ? segment : undefined;
  }

  private constructor(path: string, descriptor: number) {
    this.#path = path;
    this.#descriptor = descriptor;
  }

  /** Whether the event belongs to the next segment. */
  isFull(event: QueuedEvent | undefined): boolean {
    if (event === undefined || this.events === 0) return this.#isBroken;
    const bytes = this.bytes + event.bytes.length + 1;
    return this.#isBroken || this.events >= segmentEventsMax || bytes > segmentBytesMax;
  }

  /** Appends events from the front, as many as fit. @returns those that were written. */
  append(events: readonly QueuedEvent[], roomBytes: number): QueuedEvent[] {
    const fitting: QueuedEvent[] = [];
    let size = 0;
    for (const event of events) {
      const next = size + event.bytes.length + 1;
      const isOver = this.bytes + next > segmentBytesMax && this.events + fitting.length > 0;
      if (next > roomBytes || isOver || this.events + fitting.length >= segmentEventsMax) break;
      fitting.push(event);
      size = next;
    }
    if (this.#isBroken || !this.#write(composeLines(fitting))) return [];
    this.events += fitting.length;
    this.bytes += size;
    return fitting;
  }

  toSegment(): Segment {
    return { path: this.#path, events: this.events, bytes: this.bytes };
  }

  close(): void {
    try {
      closeSync(this.#descriptor);
    } catch {
      // The events were written before: an error at close is ignored.
    }
  }

  #write(lines: Uint8Array): boolean {
    try {
      for (let at = 0; at < lines.length; ) at += writeSync(this.#descriptor, lines, at);
      return true;
    } catch {
      // The disk is full or failing. Stop appending: a new line after a partial one would be unreadable.
      this.#isBroken = true;
      try {
        ftruncateSync(this.#descriptor, this.bytes);
      } catch {
        // Readers skip partial lines.
      }
      return false;
    }
  }
}
