import {
  countValue,
  isEscaped,
  isKey,
  newScanState,
  type Range,
  type ScanState,
  skipSpace,
  skipValue,
  walkArray,
  walkObject,
} from '../json/scan.ts';
import { joinTexts } from './batch-body.ts';

const openBracket = 0x5b;

/**
 * Replaces an erased event: others keep their indexes (docs/data-lifecycle.md#erasure). No event is a number.
 */
export const erasedText = '0';

/**
 * Cuts events out of a segment as they were sent: nothing is parsed, so 64-bit integers and escapes are kept.
 * A segment is concatenated request bodies `{"events":[…], …}`; an index counts the events of all of them,
 * from 0. A body's events are those of JSON.parse: of the last `events` member, however its key is escaped.
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

/** The byte ranges of all events of a segment, by index. @throws Error when the segment is damaged. */
export function listEvents(segment: Buffer): EventRange[] {
  const events: EventRange[] = [];
  for (let at = skipSpace(segment, 0); at < segment.length; ) {
    const body = locateEvents(segment, at);
    for (const event of body.events) events.push(event);
    at = skipSpace(segment, body.end);
  }
  return events;
}

export function isErased(segment: Buffer, { start, end }: Range): boolean {
  return segment.toString('latin1', start, end) === erasedText;
}

/**
 * A segment of one body with these events, byte for byte.
 * @returns newly allocated bytes, which do not keep `segment` in memory.
 */
export function joinEvents(segment: Buffer, events: readonly Range[]): Buffer {
  return joinTexts(events.map(({ start, end }) => segment.subarray(start, end)));
}

/**
 * Whether a request body contains only its events: other members, never read, may hold personal data.
 * @param events the ranges of its events: at least one.
 */
export function hasOnlyEvents(bytes: Buffer, events: readonly Range[]): boolean {
  const before = bytes.subarray(0, events[0]?.start);
  const after = bytes.subarray(events.at(-1)?.end);
  if (before.length > frameBytesMax || after.length > frameBytesMax) return false;
  return framePattern.test(`${before.toString('latin1')}${after.toString('latin1')}`);
}

/** Longest text before or after the events, white space included, that is examined. It is rarely longer. */
const frameBytesMax = 256;
const framePattern = /^\s*\{\s*"events"\s*:\s*\[\s*\]\s*\}\s*$/;

export interface EventRange extends Range {
  /** Whether a key of the event is written with an escape (see event/json/parse-escaped-keys.ts). */
  hasEscapedKey: boolean;
}

export interface BodyLayout {
  events: EventRange[];
  end: number;
  /** Whether a key outside of the events is written with an escape. */
  hasEscapedKey: boolean;
}

/**
 * Locates the events of the request body that starts at `at`.
 * @param scanState the limits of the walk.
 * @throws Error for damaged JSON, more than `eventsMax` events in one array, and past the walk's limits.
 */
export function locateEvents(
  bytes: Buffer,
  at: number,
  {
    eventsMax = Number.POSITIVE_INFINITY,
    scanState = newScanState(Number.POSITIVE_INFINITY),
  }: { eventsMax?: number; scanState?: ScanState } = {},
): BodyLayout {
  let events: EventRange[] = [];
  let hasEscapedKey = false;
  /** Returns whether the part just walked had an escaped key, and resets the state for the next part. */
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
