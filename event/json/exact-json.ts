import type { Json } from './json-value.ts';
import { parseEscapedKeys } from './parse-escaped-keys.ts';
import { sourceTextJson } from './source-text.ts';

/** A number that a double may not hold: an integer of 16 digits or more, or an exponent of three digits. */
const inexactNumber = /(?:^|[[:,\s-])\d{16}|\d[eE]\+?\d{3}/;

/** An integer with all of its digits: `JSON.stringify` writes them as they are. */
export function exactInteger(integer: bigint): Json {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : sourceTextJson.rawJSON(String(integer));
}

/** The digits of a number that a double cannot hold; undefined for any other value. */
export function digitsOf(value: unknown): string | undefined {
  return sourceTextJson.isRawJSON(value) ? value.rawJSON : undefined;
}

/**
 * Parses JSON and keeps all digits of its numbers: `JSON.stringify` writes the same numbers again.
 *
 * @param hasEscapedKey whether a key may be written with an escape (event/json/parse-escaped-keys.ts).
 * @throws SyntaxError when the text is not JSON.
 */
export function parseExactJson(text: string, hasEscapedKey: boolean): Json {
  return hasEscapedKey ? (parseEscapedKeys(Buffer.from(text), parseNumbers) as Json) : parseNumbers(text);
}

function parseNumbers(text: string): Json {
  if (!inexactNumber.test(text)) return JSON.parse(text) as Json;
  return sourceTextJson.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isExact(value)
      ? sourceTextJson.rawJSON(source)
      : value,
  ) as Json;
}

function isExact(value: number): boolean {
  return Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
}
