const head = Buffer.from('{"events":[');
const separator = 0x2c;
const tail = Buffer.from(']}');

/** What a body of one event is larger than its event. */
export const bodyOverheadBytes = head.length + tail.length;

/** A request body, and how many events are in it. */
export interface Body {
  bytes: Buffer;
  eventCount: number;
}

/** Wraps events into one request body, each as it is, byte for byte. */
export function joinBody(events: readonly Buffer[]): Body {
  const separators = Math.max(events.length - 1, 0);
  const size = events.reduce((sum, event) => sum + event.length, bodyOverheadBytes + separators);
  const bytes = Buffer.allocUnsafe(size);
  let at = head.copy(bytes);
  for (const [index, event] of events.entries()) {
    if (index > 0) at = bytes.writeUInt8(separator, at);
    at += event.copy(bytes, at);
  }
  tail.copy(bytes, at);
  return { bytes, eventCount: events.length };
}

/**
 * Fills request bodies with events, in order: a body is given out when the next event would exceed a limit.
 * An event that exceeds the limit on bytes by itself gets a body of its own; readers of files hold those back.
 */
export async function* batchBodies(
  events: AsyncIterable<Buffer> | Iterable<Buffer>,
  limits: { eventsMax: number; bytesMax: number },
): AsyncGenerator<Body, void, void> {
  let batch: Buffer[] = [];
  let size = bodyOverheadBytes;
  for await (const event of events) {
    // Counting a separator before the first event too errs by a byte, to the safe side.
    const full = batch.length === limits.eventsMax || size + event.length + 1 > limits.bytesMax;
    if (full && batch.length > 0) {
      yield joinBody(batch);
      batch = [];
      size = bodyOverheadBytes;
    }
    size += event.length + 1;
    batch.push(event);
  }
  if (batch.length > 0) yield joinBody(batch);
}
