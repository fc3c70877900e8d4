import {
  countValue,
  isEscaped,
  isKey,
  newScanState,
  type Range,
  skipSpace,
  skipValue,
  walkArray,
  walkObject,
} from '../json/scan.ts';

const openBracket = 0x5b;

/** What an erased event is in its segment: the places of the others hold (docs/erasure.md). No event is a number. */
export const erasedText = '0';

/**
 * Cuts events out of a segment as the exact JSON text that was sent: nothing is parsed, so 64-bit integers and escapes are
 * kept.
 *
 * A segment is one or more request bodies `{"events":[…], …}`, concatenated; an index counts the events of all of them,
 * from 0. The events of a body are those that JSON.parse gives: of several `events` members the last one, however its
 * key is escaped.
 *
 * @returns the text of each index that the segment holds; an index past its end is absent.
 * @throws Error when the segment is damaged.
 */
export function cutEvents(segment: Uint8Array, indexes: readonly number[]): Map<number, string> {
  const bytes = Buffer.from(segment.buffer, segment.byteOffset, segment.byteLength);
  const last = Math.max(-1, ...indexes);
  const texts = new Map<number, string>();
  let before = 0;
  let at = skipSpace(bytes, 0);
  while (at < bytes.length && before <= last) {
    const body = locateEvents(bytes, at);
    for (const index of indexes) {
      const event = body.events[index - before];
      if (event !== undefined) texts.set(index, bytes.toString('utf8', event.start, event.end));
    }
    before += body.events.length;
    at = skipSpace(bytes, body.end);
  }
  return texts;
}

/** Where the events of a segment are, of all its bodies, by their index. @throws Error when the segment is damaged. */
export function listEvents(segment: Buffer): EventRange[] {
  const events: EventRange[] = [];
  for (let at = skipSpace(segment, 0); at < segment.length; ) {
    const body = locateEvents(segment, at);
    for (const event of body.events) events.push(event);
    at = skipSpace(segment, body.end);
  }
  return events;
}

/** Whether the event was erased. */
export function isErased(segment: Buffer, { start, end }: Range): boolean {
  return segment.toString('latin1', start, end) === erasedText;
}

/**
 * A segment of one body with these events, byte for byte, and without what lies around them. Undefined is an erased one.
 *
 * @returns bytes in memory of their own.
 */
export function joinEvents(segment: Buffer, events: readonly (Range | undefined)[]): Buffer {
  const texts = events.map((event) =>
    event === undefined ? Buffer.from(erasedText) : segment.subarray(event.start, event.end),
  );
  const commas = texts.flatMap((text, index) => (index === 0 ? [text] : [Buffer.from(','), text]));
  const pieces = [Buffer.from('{"events":['), ...commas, Buffer.from(']}')];
  const joined = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const piece of pieces) end += piece.copy(joined, end);
  return joined;
}

/**
 * Whether the request body in `bytes` is an array of events and nothing else. Other members, or a second `events`, are read by
 * nobody, and may hold texts.
 *
 * @param events where its events are: at least one.
 */
export function hasOnlyEvents(bytes: Buffer, events: readonly Range[]): boolean {
  const before = bytes.subarray(0, events[0]?.start);
  const after = bytes.subarray(events.at(-1)?.end);
  if (before.length > frameBytesMax || after.length > frameBytesMax) return false;
  return framePattern.test(`${before.toString('latin1')}${after.toString('latin1')}`);
}

/** What lies around the events of a body, its white space included, is rarely longer. */
const frameBytesMax = 256;
const framePattern = /^\s*\{\s*"events"\s*:\s*\[\s*\]\s*\}\s*$/;

/** An event in the bytes of a body. */
export interface EventRange extends Range {
  /** Whether a key of the event is written with an escape (see lib/json/parse-escaped-keys.ts). */
  hasEscapedKey: boolean;
}

/** Where the parts of a body are. */
export interface BodyLayout {
  events: EventRange[];
  /** The position after the body. */
  end: number;
  /** Whether a key is written with an escape in what lies around the events. */
  hasEscapedKey: boolean;
}

/**
 * Locates the events of the request body that starts at `at`.
 *
 * @throws Error where it notices that the bytes are not JSON, for more than `eventsMax` events in one array, and for more
 * than `valuesMax` values.
 */
export function locateEvents(
  bytes: Buffer,
  at: number,
  { eventsMax = Number.POSITIVE_INFINITY, valuesMax = Number.POSITIVE_INFINITY } = {},
): BodyLayout {
  let events: EventRange[] = [];
  let hasEscapedKey = false;
  const scanState = newScanState(valuesMax);
  /** Moves the finding from the state of the walk to the part of the body that was just passed. */
  const takeEscapedKey = () => {
    const { hasEscapedKey: found } = scanState;
    scanState.hasEscapedKey = false;
    return found;
  };
  const visitEvent = (start: number) => {
    const end = skipValue(bytes, start, scanState);
    if (events.push({ start, end, hasEscapedKey: takeEscapedKey() }) > eventsMax) {
      throw new Error(`there are more than ${eventsMax} events`);
    }
    return end;
  };
  const end = walkObject(bytes, at, (key, valueStart) => {
    countValue(scanState);
    if (isEscaped(bytes, key.start, key.end)) {
      hasEscapedKey = true;
      countValue(scanState);
    }
    if (isKey(bytes, key, 'events')) {
      // A later member of the same name replaces this one: its events are then part of the rest.
      hasEscapedKey ||= events.some((event) => event.hasEscapedKey);
      events = [];
      if (bytes[valueStart] === openBracket) return walkArray(bytes, valueStart, visitEvent);
    }
    const valueEnd = skipValue(bytes, valueStart, scanState);
    hasEscapedKey = takeEscapedKey() || hasEscapedKey;
    return valueEnd;
  });
  return { events, end, hasEscapedKey };
}
