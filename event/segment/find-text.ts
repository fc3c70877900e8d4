import { isInsideEscape } from '../json/escapes.ts';
import type { Range } from '../json/scan.ts';
import { listEvents } from './cut.ts';
import { type Excerpt, excerptOf } from './excerpt.ts';

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

export interface FoundText {
  /** The index of the event that holds the text. */
  index: number;
  excerpt: Excerpt;
}

/** The events that hold the text, anywhere in their JSON. */
export function findTextInSegment(segment: Buffer, wanted: WantedText): FoundText[] {
  if (hitsIn(segment.toString('utf8'), wanted).next().done) return [];
  const found: FoundText[] = [];
  for (const [index, event] of listEvents(segment).entries()) {
    const json = segment.toString('utf8', event.start, event.end);
    const excerpt = excerptOf(json, hitsIn(json, wanted));
    if (excerpt !== undefined) found.push({ index, excerpt });
  }
  return found;
}

function* hitsIn(json: string, wanted: WantedText): Generator<Range> {
  wanted.lastIndex = 0;
  for (let hit = wanted.exec(json); hit !== null; hit = wanted.exec(json)) {
    if (isInsideEscape(json, hit.index)) wanted.lastIndex = hit.index + 1;
    else yield { start: hit.index, end: hit.index + hit[0].length };
  }
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
