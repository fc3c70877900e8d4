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

/**
 * Writes as JSON.stringify, four times as fast with such numbers: V8 is fast for objects without them.
 * @param written the JSON of objects and arrays that are written already.
 */
export function stringifyExact(json: Json, written: Written = new WeakMap()): string {
  const around = new Set<Json>();
  notePieces(json, around, written);
  return write(json, around, written);
}

type Written = Pick<WeakMap<object, string>, 'get'>;

/**
 * Adds the objects and arrays that have such a number, or a piece of `written`, within.
 * @returns whether `json` has one, or is one.
 */
function notePieces(json: Json | undefined, around: Set<Json>, written: Written): boolean {
  if (typeof json !== 'object' || json === null) return false;
  if (sourceTextJson.isRawJSON(json) || written.get(json) !== undefined) return true;
  let isFound = false;
  if (Array.isArray(json))
    for (const element of json) isFound = notePieces(element, around, written) || isFound;
  else for (const key in json) isFound = notePieces(json[key], around, written) || isFound;
  if (isFound) around.add(json);
  return isFound;
}

function write(json: Json, around: ReadonlySet<Json>, written: Written): string {
  if (!around.has(json)) {
    const piece = typeof json === 'object' && json !== null ? written.get(json) : undefined;
    return piece ?? digitsOf(json) ?? JSON.stringify(json);
  }
  let text = '';
  if (Array.isArray(json)) {
    for (const element of json) text += `${text === '' ? '' : ','}${write(element, around, written)}`;
    return `[${text}]`;
  }
  for (const key in json as JsonObject)
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${write((json as JsonObject)[key] ?? null, around, written)}`;
  return `{${text}}`;
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
