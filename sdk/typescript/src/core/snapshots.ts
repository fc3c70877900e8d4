import { composeEvent } from '../event/compose-event.ts';
import type { WeirEvent } from '../event/event.ts';
import { maskEvent, toMetadata } from '../event/redact.ts';
import { truncateEvent } from '../event/truncate.ts';
import { eventBytesMax } from '../limits.ts';
import type { Counters } from '../queue/counters.ts';
import type { QueuedEvent } from '../queue/queue.ts';
import type { Settings } from './options.ts';

const encoder = new TextEncoder();

/** Serializes events when they are recorded, because applications change their message arrays later. */
export class Snapshots {
  readonly #settings: Pick<Settings, 'mask' | 'content' | 'runtime' | 'sampleRate'>;
  readonly #counters: Counters;
  readonly #push: (event: QueuedEvent) => boolean;
  readonly #onQueued: () => void;
  readonly #preparations = new Set<Promise<unknown>>();

  /**
   * @param push takes an event to send. @returns false when there is no room.
   * @param onQueued called when an event whose truncation took time was taken.
   */
  constructor(
    settings: Pick<Settings, 'mask' | 'content' | 'runtime' | 'sampleRate'>,
    { counters, push, onQueued }: { counters: Counters; push(event: QueuedEvent): boolean; onQueued(): void },
  ) {
    this.#settings = settings;
    this.#counters = counters;
    this.#push = push;
    this.#onQueued = onQueued;
  }

  /** Number of events that are being truncated. */
  get preparing(): number {
    return this.#preparations.size;
  }

  /** Resolves when no event is being truncated. */
  async settled(): Promise<void> {
    await Promise.all(this.#preparations);
  }

  /**
   * @returns false when the event was dropped or sampled out. Otherwise it is queued, or will be after it is
   * truncated.
   */
  take(event: WeirEvent): boolean {
    const isKept =
      event.status.state === 'error' || isSampled(event.traceId ?? event.id, this.#settings.sampleRate);
    if (!isKept) {
      this.#counters.sampledOut++;
      return false;
    }
    this.#counters.recorded++;
    const redacted = this.#redact(event);
    if (redacted === undefined) {
      this.#counters.drop('masked', 1);
      return false;
    }
    try {
      const text = composeEvent(redacted);
      const bytes = encoder.encode(text);
      return bytes.length <= eventBytesMax ? this.#queue(event.id, bytes) : this.#truncate(event.id, text);
    } catch {
      this.#counters.drop('unserializable', 1);
      return false;
    }
  }

  #redact(event: WeirEvent): WeirEvent | undefined {
    const { mask, content } = this.#settings;
    const visible = content === 'metadata' ? toMetadata(event) : event;
    if (mask === undefined) return visible;
    const { event: masked, hasFailed } = maskEvent(visible, mask);
    if (hasFailed) this.#counters.maskFailures++;
    return masked;
  }

  #truncate(id: string, text: string): boolean {
    const truncated = truncateEvent(text);
    if (!(truncated instanceof Promise)) return this.#queueTruncated(id, truncated);
    const preparation = truncated
      .then((bytes) => this.#queueTruncated(id, bytes) && this.#onQueued())
      .catch(() => this.#counters.drop('unserializable', 1))
      .finally(() => this.#preparations.delete(preparation));
    this.#preparations.add(preparation);
    return true;
  }

  #queueTruncated(id: string, bytes: Uint8Array | undefined): boolean {
    if (bytes === undefined) {
      this.#counters.drop('too_large', 1);
      return false;
    }
    this.#counters.truncated++;
    return this.#queue(id, bytes);
  }

  #queue(id: string, bytes: Uint8Array): boolean {
    const isQueued = this.#push({ id, bytes, atMs: this.#settings.runtime.wallMs() });
    if (!isQueued) this.#counters.drop('queue_full', 1);
    return isQueued;
  }
}

/**
 * Whether a trace is kept, at a rate from 0 to 1. The result depends only on the id and the rate, so that all
 * processes keep or drop a trace as a whole.
 */
function isSampled(traceId: string, rate: number): boolean {
  return rate >= 1 || hashOf(traceId) / 2 ** 32 < rate;
}

/**
 * FNV-1a, 32 bits, with the final mix of MurmurHash3: FNV alone leaves the high bits of similar texts alike.
 */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
