import { isDeeperThan } from './depth.ts';
import { parseExactJson } from './exact-json.ts';
import type { Json } from './json-value.ts';
import { newScanState, skipSpace, skipValue } from './scan.ts';

/** Deepest nesting of JSON text in a text. Deeper JSON stays a text. */
const embeddedDepthMax = 256;

/** Bounds the memory of the values. */
const embeddedValuesMax = 256 * 1024;

/**
 * Parses a list or an object, which instrumentations send as text for prompts and arguments.
 * @returns undefined for other text, and for JSON that is too deep or has too many values.
 */
export function parseEmbeddedJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const bytes = Buffer.from(text);
    const scanState = newScanState(embeddedValuesMax);
    skipValue(bytes, skipSpace(bytes, 0), scanState);
    const value = parseExactJson(text, scanState.hasEscapedKey);
    return isDeeperThan(value, embeddedDepthMax) ? undefined : value;
  } catch {
    return undefined;
  }
}
