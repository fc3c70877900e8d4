import type { IngestEvent } from '../../../../event/event.ts';
import { Projector } from '../../../../event/projection.ts';
import { batchHead, batchTail } from '../../../../event/segment/batch-body.ts';
import { bodyBytesMax, eventsPerBatchMax } from '../../../../platform/limits.ts';
import type { EventPart } from './span-batch.ts';

/** Largest event that fits into a part. */
export const eventBytesMax = bodyBytesMax - batchHead.length - batchTail.length;

/** Splits events into parts, each as large as a request of the JSON API may be. */
export class PartBuilder {
  readonly #parts: EventPart[] = [];
  #projector = new Projector();
  #texts: string[] = [];
  #bytes = 0;

  /** @param json the event's JSON, `bytes` long: at most `eventBytesMax`. */
  add(event: IngestEvent, json: string, bytes: number): void {
    const separator = this.#texts.length === 0 ? 0 : 1;
    if (this.#texts.length === eventsPerBatchMax || this.#bytes + separator + bytes > eventBytesMax) {
      this.#finishPart();
    }
    this.#bytes += bytes + (this.#texts.length === 0 ? 0 : 1);
    this.#texts.push(json);
    this.#projector.add(event);
  }

  finish(): EventPart[] {
    if (this.#texts.length > 0) this.#finishPart();
    return this.#parts;
  }

  #finishPart(): void {
    const body = Buffer.allocUnsafeSlow(this.#bytes + batchHead.length + batchTail.length);
    let end = body.write(batchHead);
    for (const [index, text] of this.#texts.entries()) {
      if (index > 0) end += body.write(',', end);
      end += body.write(text, end);
    }
    body.write(batchTail, end);
    this.#parts.push({ projection: this.#projector.finish(), body });
    this.#projector = new Projector();
    this.#texts = [];
    this.#bytes = 0;
  }
}
