import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { QueuedEvent } from '../queue/queue.ts';
import { segmentBytesMax, segmentEventsMax } from './limits.ts';
import { composeLines, type Segment } from './segment.ts';

/**
 * The segment that events are appended to. Appends are synchronous, so that appended events survive `kill
 * -9`.
 */
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

  /** Appends events from the front, as many as fit. @returns how many were written. */
  append(events: readonly QueuedEvent[], roomBytes: number): number {
    let count = 0;
    let size = 0;
    for (const event of events) {
      const next = size + event.bytes.length + 1;
      const isOver = this.bytes + next > segmentBytesMax && this.events + count > 0;
      if (next > roomBytes || isOver || this.events + count >= segmentEventsMax) break;
      count++;
      size = next;
    }
    if (this.#isBroken || !this.#write(composeLines(events.slice(0, count)))) return 0;
    this.events += count;
    this.bytes += size;
    return count;
  }

  /** Whether a write failed: no more is appended. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  toSegment(): Segment {
    return { path: this.#path, events: this.events, bytes: this.bytes, isOwn: true };
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
