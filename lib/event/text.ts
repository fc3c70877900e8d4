/**
 * Text on its way into Postgres. Postgres stores neither U+0000 nor lone surrogates: both become U+FFFD in a column,
 * and stay as they were in the segment (design §3).
 */

/** What a quoted element must escape, and what Postgres cannot store. */
const special = /["\\\0]/;

/** The first `charsMax` characters, never half of a surrogate pair. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const end = isHighSurrogate(text.charCodeAt(charsMax - 1)) ? charsMax - 1 : charsMax;
  return text.slice(0, end);
}

/** The same text with U+FFFD wherever Postgres would refuse it. */
export function storableText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

/** A text as a quoted element of a Postgres array literal. */
export function quoteElement(text: string): string {
  const wellFormed = text.toWellFormed();
  if (!special.test(wellFormed)) return `"${wellFormed}"`;
  return `"${wellFormed.replaceAll('\0', '\uFFFD').replaceAll(/["\\]/g, '\\$&')}"`;
}

/**
 * The elements of the inside of a Postgres array literal, each as it is written there: what quoteElement and plain
 * numbers, UUIDs and NULLs joined by commas made.
 */
export function splitElements(inside: string): string[] {
  return inside === '' ? [] : (inside.match(/"(?:[^"\\]|\\.)*"|[^,]+/gs) ?? []);
}

function isHighSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xd800 && codeUnit <= 0xdbff;
}
