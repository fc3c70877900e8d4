import { envelopeBytes } from '../limits.ts';
import type { QueuedEvent } from '../queue/queue.ts';

const encoder = new TextEncoder();
const head = encoder.encode('{"events":[');
const tail = encoder.encode(']}');
const comma = ','.charCodeAt(0);

/** The request body of a batch (docs/api.md §2.1). */
export function composeBody(events: readonly QueuedEvent[]): Uint8Array<ArrayBuffer> {
  const content = events.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const body = new Uint8Array(envelopeBytes + content + Math.max(0, events.length - 1));
  body.set(head);
  let at = head.length;
  for (const [index, { bytes }] of events.entries()) {
    if (index > 0) body[at++] = comma;
    body.set(bytes, at);
    at += bytes.length;
  }
  body.set(tail, at);
  return body;
}
