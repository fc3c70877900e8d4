import { batchHead, batchTail } from '../../event/segment/batch-body.ts';

const head = Buffer.from(batchHead);
const separator = 0x2c;
const tail = Buffer.from(batchTail);

/** By how many bytes a body with one event is larger than the event. */
export const bodyOverheadBytes = head.length + tail.length;

export interface FileEvent {
  /** The line number, from 1. */
  line: number;
  bytes: Buffer;
}

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

/** Splits a body of at least two events in halves. Leaves the bytes of each event unchanged. */
export function splitBody(body: Body): [Body, Body] {
  const events = body.events.map(({ line, start, end }) => ({
    line,
    bytes: body.bytes.subarray(start, end),
  }));
  const middle = Math.ceil(events.length / 2);
  return [joinBody(events.slice(0, middle)), joinBody(events.slice(middle))];
}

type TakeMemory = (bytesMin: number) => Buffer;

/**
 * Memory of bodies, which is reused: for every 64 MB that are allocated V8 would collect its whole heap.
 * @param bytesMax the size of a body. A larger one gets separate memory.
 */
export function createBodyMemory(bytesMax: number) {
  const free: Buffer[] = [];
  return {
    take: (bytesMin: number) =>
      bytesMin > bytesMax
        ? Buffer.allocUnsafeSlow(bytesMin)
        : (free.pop() ?? Buffer.allocUnsafeSlow(bytesMax)),
    /** Takes the memory of a body whose request was answered: nothing reads it any more. */
    giveBack({ bytes: { buffer } }: Body): void {
      if (buffer.byteLength === bytesMax) free.push(Buffer.from(buffer));
    },
  };
}

/**
 * Batches events into request bodies, in order: a body is yielded when the next event, which is copied first,
 * would exceed a limit. An event above `bytesMax`, which openEventFile rejects, would be alone in a body.
 */
export async function* batchBodies(
  events: AsyncIterable<FileEvent> | Iterable<FileEvent>,
  { eventsMax, bytesMax }: { eventsMax: number; bytesMax: number },
  take: TakeMemory = Buffer.allocUnsafe,
): AsyncGenerator<Body, void, void> {
  let body: Body | undefined;
  let at = 0;
  const finish = (one: Body): Body => {
    const end = at + tail.copy(one.bytes, at);
    return { ...one, bytes: one.bytes.subarray(0, end) };
  };
  for await (const { line, bytes } of events) {
    const isFull = body?.events.length === eventsMax || at + 1 + bytes.length + tail.length > bytesMax;
    if (body !== undefined && isFull) {
      yield finish(body);
      body = undefined;
    }
    if (body === undefined) {
      body = { bytes: take(Math.max(bytesMax, bodyOverheadBytes + bytes.length)), events: [] };
      at = head.copy(body.bytes);
    } else at = body.bytes.writeUInt8(separator, at);
    const end = at + bytes.copy(body.bytes, at);
    body.events.push({ line, start: at, end });
    at = end;
  }
  if (body !== undefined) yield finish(body);
}
