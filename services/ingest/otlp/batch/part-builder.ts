import type { IngestEvent } from '../../../../event/event.ts';
import { Projector } from '../../../../event/projection.ts';
import { batchHead, batchTail } from '../../../../event/segment/batch-body.ts';
import { bodyBytesMax, eventsPerBatchMax } from '../../../../platform/limits.ts';
import type { EventPart } from './span-batch.ts';

/** Largest event that fits into a part. */
export const eventBytesMax = bodyBytesMax - batchHead.length - batchTail.length;

/** Most bytes of UTF-8 for a character of a string. */
export const charBytesMax = 3;

/**
 * The parts of all requests of this thread are written here, one after the other: strings that waited for the
 * last event of their part would be copied by each collection of young objects.
 */
let scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Splits events into parts, each as large as a request of the JSON API may be. */
export class PartBuilder {
  readonly #parts: EventPart[] = [];
  #projector = new Projector();
  #count = 0;
  /** The bytes of the open part in `scratch`. */
  #end = 0;

  /**
   * @param json the event's JSON, at most `eventBytesMax` long.
   * @returns the length of the JSON in bytes.
   */
  add(event: IngestEvent, json: string): number {
    reserve(this.#end + batchHead.length + charBytesMax * json.length);
    const start = this.#end + scratch.write(this.#count === 0 ? batchHead : ',', this.#end);
    const bytes = scratch.write(json, start);
    const isFull = this.#count === eventsPerBatchMax || start + bytes > bodyBytesMax - batchTail.length;
    if (this.#count > 0 && isFull) {
      this.#finishPart();
      scratch.copyWithin(batchHead.length, start, start + bytes);
      this.#end = scratch.write(batchHead) + bytes;
    } else this.#end = start + bytes;
    this.#count += 1;
    this.#projector.add(event);
    return bytes;
  }

  finish(): EventPart[] {
    if (this.#count > 0) this.#finishPart();
    return this.#parts;
  }

  #finishPart(): void {
    const body = Buffer.allocUnsafeSlow(this.#end + batchTail.length);
    scratch.copy(body, 0, 0, this.#end);
    body.write(batchTail, this.#end);
    this.#parts.push({ projection: this.#projector.finish(), body });
    this.#projector = new Projector();
    this.#count = 0;
    this.#end = 0;
  }
}

function reserve(bytes: number): void {
  if (bytes <= scratch.length) return;
  const larger = Buffer.allocUnsafeSlow(2 * bytes);
  scratch.copy(larger);
  scratch = larger;
}
