import { skipSpace } from '../json/scan.ts';
import { locateEvents } from './cut.ts';

/** A text to search for in the JSON of events as it was sent. */
export interface WantedText {
  /** The spellings of the text in JSON that are searched for. */
  readonly spellings: readonly string[];
  readonly matchCase: boolean;
}

/**
 * Prepares a search. Encoders differ in what they escape: only what JSON requires, all non-ASCII characters
 * (Python's default), or `/` (PHP). Text whose escapes are mixed is not found.
 */
export function wantedText(text: string, matchCase: boolean): WantedText {
  const wanted = matchCase ? text : text.toLowerCase();
  const escaped = JSON.stringify(wanted).slice(1, -1);
  const ascii = escapeAll(escaped, (hex) => hex);
  const spellings = [escaped, ascii, matchCase ? escapeAll(escaped, (hex) => hex.toUpperCase()) : ascii];
  return {
    spellings: [...new Set(spellings.flatMap((one) => [one, one.replaceAll('/', '\\/')]))],
    matchCase,
  };
}

/** The indexes of the events in a segment that hold the text, anywhere in their JSON. */
export function findTextInSegment(segment: Buffer, wanted: WantedText): number[] {
  if (!holds(segment.toString('utf8'), wanted)) return [];
  const found: number[] = [];
  let before = 0;
  for (let at = skipSpace(segment, 0); at < segment.length; ) {
    const { events, end } = locateEvents(segment, at);
    for (const [place, event] of events.entries()) {
      if (holds(segment.toString('utf8', event.start, event.end), wanted)) found.push(before + place);
    }
    before += events.length;
    at = skipSpace(segment, end);
  }
  return found;
}

function holds(json: string, { spellings, matchCase }: WantedText): boolean {
  const text = matchCase ? json : json.toLowerCase();
  return spellings.some((spelling) => text.includes(spelling));
}

function escapeAll(text: string, showHex: (hex: string) => string): string {
  return text.replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${showHex(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`,
  );
}
