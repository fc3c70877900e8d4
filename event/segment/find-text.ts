import { skipSpace } from '../json/scan.ts';
import { locateEvents } from './cut.ts';

/** Searched in the JSON of events as it was sent: see {@link wantedText}. */
export type WantedText = RegExp;

/** What JSON escapes with one letter. */
const shortEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
};

/** The characters that JSON has to escape. */
const escapedAlways = /["\\\p{Cc}]/u;

/**
 * Encoders escape only what JSON requires, all non-ASCII (Python), `/` (PHP) or `<` (Go): each character is
 * searched for as itself and as its escapes, without `matchCase` also those of its other cases: `П` and `п`
 * have different ones. Cases are of Unicode's simple case folding (`store/read/folded-text.ts`).
 */
export function wantedText(text: string, matchCase: boolean): WantedText {
  const source = Array.from(text, (character) => {
    const own = shortEscapes[character];
    const spellings = [
      ...(escapedAlways.test(character) ? [] : [RegExp.escape(character)]),
      ...(own === undefined ? [] : [`\\\\${RegExp.escape(own)}`]),
      ...(matchCase ? [character] : casesOf(character)).map(unicodeEscape),
    ];
    return `(?:${spellings.join('|')})`;
  });
  return new RegExp(source.join(''), matchCase ? 'gu' : 'giu');
}

/** The indexes of the events that hold the text, anywhere in their JSON. */
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

function holds(json: string, wanted: WantedText): boolean {
  wanted.lastIndex = 0;
  for (let hit = wanted.exec(json); hit !== null; hit = wanted.exec(json)) {
    if (!isInsideEscape(json, hit.index)) return true;
    wanted.lastIndex = hit.index + 1;
  }
  return false;
}

/** Whether a character belongs to an escape, like the `n` of `\n` or a digit of `\u00e9`. */
function isInsideEscape(json: string, at: number): boolean {
  for (let start = at - 1; start > at - unicodeEscapeChars && start >= 0; start--) {
    if (json[start] === '\\' && !isEscaped(json, start))
      return start + (json[start + 1] === 'u' ? unicodeEscapeChars : 2) > at;
  }
  return false;
}

const unicodeEscapeChars = 6;

/** Whether the character is the second one of an escape. */
function isEscaped(json: string, at: number): boolean {
  let start = at;
  while (json[start - 1] === '\\') start -= 1;
  return (at - start) % 2 === 1;
}

/** `\uXXXX`, beyond the BMP two of them. */
function unicodeEscape(character: string): string {
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return units.map((hex) => `\\\\u(?i:${hex})`).join('');
}

let casedCharacters: string | undefined;

function casesOf(character: string): string[] {
  casedCharacters ??= listCasedCharacters();
  const cases = casedCharacters.match(new RegExp(RegExp.escape(character), 'giu'));
  return cases ?? [character];
}

/** Takes some 30 milliseconds, so it is done once. */
function listCasedCharacters(): string {
  const all = Array.from({ length: 0x20_000 }, (_, codePoint) => String.fromCodePoint(codePoint)).join('');
  return (all.match(/\p{Changes_When_Casemapped}/gu) ?? []).join('');
}
