import type { Json, JsonObject } from './json-value.ts';
import { parseEscapedKeys } from './parse-escaped-keys.ts';
import { sourceTextJson } from './source-text.ts';

/** A number that a double may not hold: an integer of 16 digits or more, or an exponent of three digits. */
const inexactNumber = /(?:^|[[:,\s-])\d{16}|\d[eE]\+?\d{3}/;

/** `JSON.stringify` writes all of its digits. */
export function exactInteger(integer: bigint): Json {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : sourceTextJson.rawJSON(String(integer));
}

/** The digits of a number that a double cannot hold; undefined for any other value. */
export function digitsOf(value: unknown): string | undefined {
  return sourceTextJson.isRawJSON(value) ? value.rawJSON : undefined;
}

/** Writes as JSON.stringify, four times as fast with such numbers: V8 is fast for objects without them. */
export function stringifyExact(json: Json): string {
  const around = new Set<Json>();
  noteDigits(json, around);
  return write(json, around);
}

/** Adds the objects and arrays that have such a number within. @returns whether `json` has one, or is one. */
function noteDigits(json: Json | undefined, around: Set<Json>): boolean {
  if (typeof json !== 'object' || json === null) return false;
  if (sourceTextJson.isRawJSON(json)) return true;
  let isFound = false;
  if (Array.isArray(json)) for (const element of json) isFound = noteDigits(element, around) || isFound;
  else for (const key in json) isFound = noteDigits(json[key], around) || isFound;
  if (isFound) around.add(json);
  return isFound;
}

function write(json: Json, around: ReadonlySet<Json>): string {
  if (!around.has(json)) return digitsOf(json) ?? JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map((element) => write(element, around)).join()}]`;
  const members = Object.entries(json as JsonObject);
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${write(value, around)}`).join()}}`;
}

/**
 * `JSON.stringify` writes the same numbers again.
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
