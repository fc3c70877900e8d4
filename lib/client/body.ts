const head = Buffer.from('{"events":[');
const separator = 0x2c;
const tail = Buffer.from(']}');

/** What a body of one event is larger than its event. */
export const bodyOverheadBytes = head.length + tail.length;

/** An event as a line of a file has it. */
export interface FileEvent {
  /** From 1, as editors count. */
  line: number;
  bytes: Buffer;
}

/** A request body, and which of its bytes are which line's event. */
export interface Body {
  bytes: Buffer;
  events: { line: number; start: number; end: number }[];
}

/** Wraps events into one request body, each as it is, byte for byte. */
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

/** The same events, byte for byte, in two bodies of half as many. A body of one event cannot be split. */
export function splitBody(body: Body): [Body, Body] {
  const events = body.events.map(({ line, start, end }) => ({
    line,
    bytes: body.bytes.subarray(start, end),
  }));
  const middle = Math.ceil(events.length / 2);
  return [joinBody(events.slice(0, middle)), joinBody(events.slice(middle))];
}

/**
 * Fills request bodies with events, in order: a body is given out when the next event would exceed a limit.
 * An event that exceeds the limit on bytes by itself gets a body of its own; readers of files hold those back.
 */
export async function* batchBodies(
  events: AsyncIterable<FileEvent> | Iterable<FileEvent>,
  limits: { eventsMax: number; bytesMax: number },
): AsyncGenerator<Body, void, void> {
  let batch: FileEvent[] = [];
  let size = bodyOverheadBytes;
  for await (const event of events) {
    // Counting a separator before the first event too errs by a byte, to the safe side.
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
