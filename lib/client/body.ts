const head = Buffer.from('{"events":[');
const separator = 0x2c;
const tail = Buffer.from(']}');

/** By how many bytes a body with one event is larger than the event. */
export const bodyOverheadBytes = head.length + tail.length;

/** One event of an NDJSON file: the bytes of its line. */
export interface FileEvent {
  /** The line number, from 1. */
  line: number;
  bytes: Buffer;
}

/** A request body, and the byte range of each event in it. */
export interface Body {
  bytes: Buffer;
  events: { line: number; start: number; end: number }[];
}

/** Joins events into one request body. The bytes of each event are unchanged. */
export function joinBody(events: readonly FileEvent[]): Body {
  const separators = Math.max(events.length - 1, 0);
  const size = events.reduce((sum, event) => sum + event.bytes.length, bodyOverheadBytes + separators);
  const body: Body = { bytes: Buffer.allocUnsafe(size), events: [] };
  let at = head.copy(body.bytes);
  for (const { line, bytes } of events) {
    if (body.events.length > 0) at = body.bytes.writeUInt8(separator, at);
    const end = at + bytes.copy(body.bytes, at);
    body.events.push({ line, start: at, end });
    at = end;
  }
  tail.copy(body.bytes, at);
  return body;
}

/** Splits a body with at least two events into two bodies of half as many. The bytes of each event are unchanged. */
export function splitBody(body: Body): [Body, Body] {
  const events = body.events.map(({ line, start, end }) => ({
    line,
    bytes: body.bytes.subarray(start, end),
  }));
  const middle = Math.ceil(events.length / 2);
  return [joinBody(events.slice(0, middle)), joinBody(events.slice(middle))];
}

/**
 * Batches events into request bodies, in order: a body is yielded when the next event would exceed a limit. An event
 * above `bytesMax` gets a body of its own; openEventFile already rejects such events.
 */
export async function* batchBodies(
  events: AsyncIterable<FileEvent> | Iterable<FileEvent>,
  limits: { eventsMax: number; bytesMax: number },
): AsyncGenerator<Body, void, void> {
  let batch: FileEvent[] = [];
  let size = bodyOverheadBytes;
  for await (const event of events) {
    // This counts a separator before the first event too: one byte too many, never too few.
    const full = batch.length === limits.eventsMax || size + event.bytes.length + 1 > limits.bytesMax;
    if (full && batch.length > 0) {
      yield joinBody(batch);
      batch = [];
      size = bodyOverheadBytes;
    }
    size += event.bytes.length + 1;
    batch.push(event);
  }
  if (batch.length > 0) yield joinBody(batch);
}
