import {
  countValue,
  type Findings,
  isBackslashFirst,
  isKey,
  noFindings,
  type Range,
  skipSpace,
  skipValue,
  walkArray,
  walkObject,
} from '../json/scan.ts';

const openBracket = 0x5b;

/**
 * Cuts events out of a segment, as the exact JSON text that was sent: nothing is parsed, so 64-bit integers and
 * escapes survive.
 *
 * A segment is one or more request bodies `{"events":[…], …}` one after another; an index counts the events of all
 * of them, from 0. What counts as an event is what JSON.parse saw: of several `events` members of a body the last
 * one, however its key is escaped.
 *
 * @returns the text of each index that the segment holds; an index past its end is absent.
 * @throws Error when the segment is not what was stored.
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

/**
 * Where the events are of the request body that starts at `at`, where it ends, and what was noticed on the way.
 *
 * @throws Error where it notices that the bytes are no JSON, for an array of more than `eventsMax` events, and when there
 * are more than `valuesMax` values.
 */
export function locateEvents(
  bytes: Buffer,
  at: number,
  { eventsMax = Number.POSITIVE_INFINITY, valuesMax = Number.POSITIVE_INFINITY } = {},
): { events: Range[]; end: number } & Findings {
  let events: Range[] = [];
  const findings = noFindings(valuesMax);
  const add = (event: Range) => {
    if (events.push(event) > eventsMax) throw new Error(`there are more than ${eventsMax} events`);
  };
  const end = walkObject(bytes, at, (key, valueStart) => {
    countValue(findings);
    if (isBackslashFirst(bytes, key.start)) findings.hasBackslashFirst = true;
    if (!isKey(bytes, key, 'events')) return skipValue(bytes, valueStart, findings);
    events = [];
    return bytes[valueStart] === openBracket
      ? walkArray(bytes, valueStart, add, findings)
      : skipValue(bytes, valueStart, findings);
  });
  return { events, end, ...findings };
}
