import { isDeeperThan } from '../../../../lib/json/depth.ts';
import { parseExactJson } from '../../../../lib/json/exact-json.ts';
import type { Json } from '../../../../lib/json/json-value.ts';
import { newScanState, skipSpace, skipValue } from '../../../../lib/json/scan.ts';
import { embeddedDepthMax, spanValuesMax } from '../limits.ts';

/**
 * Parses a list or an object from JSON text, which is how instrumentations send prompts and arguments.
 *
 * @returns undefined for any other text, and for JSON that is nested too deep or has too many values.
 */
export function parseEmbeddedJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const bytes = Buffer.from(text);
    const scanState = newScanState(spanValuesMax);
    skipValue(bytes, skipSpace(bytes, 0), scanState);
    const value = parseExactJson(text, scanState.hasEscapedKey);
    return isDeeperThan(value, embeddedDepthMax) ? undefined : value;
  } catch {
    return undefined;
  }
}
