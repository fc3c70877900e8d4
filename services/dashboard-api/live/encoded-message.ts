import { type TrackedEnvelope, tracked } from '@trpc/server';
import { formatPosition, type TailPosition } from '../../../lib/tail/position.ts';
import { encodeEvent } from './event-stream.ts';
import type { LiveMessage } from './live-message.ts';

export type TrackedMessage = TrackedEnvelope<LiveMessage>;

/**
 * A message as it is sent. It is encoded once: all streams that send it write the same bytes, and none holds the events that
 * they were made of.
 */
export class EncodedMessage {
  /** Everything up to here was sent with it. */
  readonly end: TailPosition;
  /** The event of the stream. */
  readonly bytes: Buffer;
  /** How many queues hold it: see QueueBudget. */
  holders = 0;

  constructor(end: TailPosition, message: LiveMessage) {
    this.end = end;
    this.bytes = encodeEvent({ id: formatPosition(end), data: JSON.stringify(message) });
  }

  /** What the procedure yields. Whoever serialises it gets the message; sendEventStream takes the bytes. */
  get envelope(): TrackedMessage {
    return tracked(formatPosition(this.end), this as unknown as LiveMessage);
  }

  toJSON(): LiveMessage {
    return JSON.parse(this.bytes.toString('utf8', dataPrefix.length, this.bytes.indexOf('\n')));
  }
}

const dataPrefix = 'data: ';
