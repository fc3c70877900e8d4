import { columnCharsMax } from './limits.ts';

/** Columns have U+FFFD for U+0000 and lone surrogates, which Postgres rejects; segments keep both. */

/** What a quoted element must escape, and what Postgres cannot store. */
const special = /["\\\0]/;
/** JSON escapes these, and an array literal does not. */
const control = /\p{Cc}/u;

/** The first `charsMax` UTF-16 code units, without half of a surrogate pair at the end. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const end = isHighSurrogate(text.charCodeAt(charsMax - 1)) ? charsMax - 1 : charsMax;
  return text.slice(0, end);
}

/** U+FFFD in place of what Postgres rejects. */
export function storableText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

/** The text as in a column: a longer one would match nothing, and Postgres rejects U+0000. */
export function asStored(text: string): string {
  return storableText(cutText(text, columnCharsMax));
}

/** U+FFFD for lone surrogates, which JSON.stringify writes as `\\ud…`: strict clients refuse them. */
export function wellFormedJson(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replaceAll(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/g, (found, lone) =>
    lone === undefined ? found : '\\ufffd',
  );
}

/** A text as a quoted element of a Postgres array literal. */
export function quoteElement(text: string): string {
  const wellFormed = text.toWellFormed();
  if (!special.test(wellFormed)) return `"${wellFormed}"`;
  // Several times as fast as a replacement.
  if (!control.test(wellFormed)) return JSON.stringify(wellFormed);
  return `"${wellFormed.replaceAll('\0', '\uFFFD').replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Splits the inside of a Postgres array literal: results of quoteElement, numbers, UUIDs and NULLs. */
export function splitElements(inside: string): string[] {
  return inside === '' ? [] : (inside.match(/"(?:[^"\\]|\\.)*"|[^,]+/gs) ?? []);
}

/** The value of an element of an array literal; undefined for NULL. */
export function unquoteElement(element: string | undefined): string | undefined {
  if (element === undefined || element === 'NULL') return undefined;
  return element.startsWith('"') ? element.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : element;
}

function isHighSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xd800 && codeUnit <= 0xdbff;
}
