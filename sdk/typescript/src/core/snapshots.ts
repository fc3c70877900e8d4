import { composeEvent } from '../event/compose-event.ts';
import type { WeirEvent } from '../event/event.ts';
import { maskEvent, toMetadata } from '../event/redact.ts';
import { truncateEvent } from '../event/truncate.ts';
import { eventBytesMax } from '../limits.ts';
import type { Counters } from '../queue/counters.ts';
import type { Queue } from '../queue/queue.ts';
import type { Settings } from './options.ts';

const encoder = new TextEncoder();

/** Serializes events when they are recorded, because applications change their message arrays later. */
export class Snapshots {
  readonly #settings: Pick<Settings, 'mask' | 'content' | 'runtime'>;
  readonly #counters: Counters;
  readonly #queue: Queue;
  readonly #onQueued: () => void;
  readonly #preparations = new Set<Promise<void>>();

  /** @param onQueued called when an event that had to be truncated is in the queue. */
  constructor(
    settings: Pick<Settings, 'mask' | 'content' | 'runtime'>,
    { counters, queue, onQueued }: { counters: Counters; queue: Queue; onQueued: () => void },
  ) {
    this.#settings = settings;
    this.#counters = counters;
    this.#queue = queue;
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

  /** @returns false when the event was dropped. Otherwise it is queued, or will be after it is truncated. */
  take(event: WeirEvent): boolean {
    this.#counters.recorded++;
    const redacted = this.#redact(event);
    if (redacted === undefined) {
      this.#counters.drop('masked', 1);
      return false;
    }
    const text = textOf(redacted);
    if (text === undefined) {
      this.#counters.drop('unserializable', 1);
      return false;
    }
    const bytes = encoder.encode(text);
    if (bytes.length <= eventBytesMax) return this.#push(event.id, bytes);
    const preparation = this.#truncate(event.id, text).finally(() => this.#preparations.delete(preparation));
    this.#preparations.add(preparation);
    return true;
  }

  #redact(event: WeirEvent): WeirEvent | undefined {
    const { mask, content } = this.#settings;
    const visible = content === 'metadata' ? toMetadata(event) : event;
    if (mask === undefined) return visible;
    const { event: masked, hasFailed } = maskEvent(visible, mask);
    if (hasFailed) this.#counters.maskFailures++;
    return masked;
  }

  async #truncate(id: string, text: string): Promise<void> {
    try {
      const bytes = await truncateEvent(text);
      if (bytes === undefined) return this.#counters.drop('too_large', 1);
      this.#counters.truncated++;
      if (this.#push(id, bytes)) this.#onQueued();
    } catch {
      this.#counters.drop('unserializable', 1);
    }
  }

  #push(id: string, bytes: Uint8Array): boolean {
    const isQueued = this.#queue.push({ id, bytes, atMs: this.#settings.runtime.wallMs() });
    if (!isQueued) this.#counters.drop('queue_full', 1);
    return isQueued;
  }
}

function textOf(event: WeirEvent): string | undefined {
  try {
    return composeEvent(event);
  } catch {
    return undefined;
  }
}
