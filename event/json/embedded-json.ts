import { isDeeperThan } from './depth.ts';
import { parseExactJson } from './exact-json.ts';
import type { Json } from './json-value.ts';
import { newScanState, type ScanState, skipSpace, skipValue } from './scan.ts';

/** Deepest nesting of JSON text in a text. Deeper JSON stays a text. */
const embeddedDepthMax = 256;

/** A text of this length has fewer values than the bound. */
const smallCharsMax = 16 * 1024;

/**
 * In each text with an escape in a key (parse-escaped-keys.ts): the last one has no other behind it up to the
 * quote and the colon. Also in some others, as in JSON within a string, which are scanned for nothing.
 */
const mayHaveEscapedKey = /\\.[^"\\]*"\s*:/s;

/** Bounds the memory of the values. */
const embeddedValuesMax = 256 * 1024;

/**
 * Parses a list or an object, which instrumentations send as text for prompts and arguments.
 * @returns undefined for other text, and for JSON that is too deep or has too many values.
 */
export function parseEmbeddedJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const isScanned = text.length > smallCharsMax || mayHaveEscapedKey.test(text);
    const value = parseExactJson(text, isScanned && scan(text).hasEscapedKey);
    return isDeeperThan(value, embeddedDepthMax) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** A value that instrumentations send as it is, or as JSON text. */
export function parseIfJson(value: Json): Json {
  return typeof value === 'string' ? (parseEmbeddedJson(value) ?? value) : value;
}

/** @throws Error when there are too many values, or none. */
function scan(text: string): ScanState {
  const bytes = Buffer.from(text);
  const state = newScanState(embeddedValuesMax);
  skipValue(bytes, skipSpace(bytes, 0), state);
  return state;
}
