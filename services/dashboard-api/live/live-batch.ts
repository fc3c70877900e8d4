import { comparePositions, type TailPosition } from '../../../lib/tail/position.ts';
import { EncodedMessage } from './encoded-message.ts';
import { liveMessageEventsMax } from './limits.ts';
import type { LiveEvent } from './live-page.ts';

/** Events that one message can hold, with the position after them. Streams with the same filter share its message. */
export class LiveBatch {
  readonly #events: readonly LiveEvent[];
  readonly #end: TailPosition;
  #whole: EncodedMessage | undefined;

  constructor(events: readonly LiveEvent[], end: TailPosition) {
    this.#events = events;
    this.#end = end;
  }

  /** The message of the events after a position; undefined when there are none. */
  after(position: TailPosition): EncodedMessage | undefined {
    const first = this.#events.findIndex((event) => comparePositions(event.position, position) > 0);
    if (first === -1) return undefined;
    if (first > 0) return this.#encode(this.#events.slice(first));
    this.#whole ??= this.#encode(this.#events);
    return this.#whole;
  }

  #encode(events: readonly LiveEvent[]): EncodedMessage {
    return new EncodedMessage(this.#end, { type: 'events', events: events.map(({ event }) => event) });
  }
}

/** Cuts events into what messages can hold. @param end the position after the last one. */
export function toBatches(events: readonly LiveEvent[], end: TailPosition): LiveBatch[] {
  return Array.from({ length: Math.ceil(events.length / liveMessageEventsMax) }, (_, at) => {
    const own = events.slice(at * liveMessageEventsMax, (at + 1) * liveMessageEventsMax);
    const isLast = (at + 1) * liveMessageEventsMax >= events.length;
    return new LiveBatch(own, isLast ? end : (own.at(-1)?.position ?? end));
  });
}
