import { isEscaped, skipString } from './scan.ts';

const quote = 0x22;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const colon = 0x3a;

/** Recursion is bounded by `levels`. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((element) => isDeeperThan(element, levels - 1));
  // Object.values would allocate an array for each of the thousands of objects of a batch.
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object' && member !== null && isDeeperThan(member, levels - 1)) return true;
  }
  return false;
}

/**
 * Empties the objects and arrays at level `levels`: JSON.parse blocks for half a second on 4 MiB of brackets.
 * Invalid JSON stays invalid, unless the error is in a removed part. @returns `bytes` if they nest no deeper,
 * and whether a key is written with an escape (see parse-escaped-keys.ts).
 */
export function limitDepth(bytes: Buffer, levels: number): { bytes: Buffer; hasEscapedKey: boolean } {
  const cuts: number[] = [];
  const { length } = bytes;
  let hasEscapedKey = false;
  let stringStart = 0;
  let stringEnd = 0;
  let depth = 0;
  let start = 0;
  for (let next = 0; next < length; next++) {
    const byte = bytes[next];
    if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth === levels) start = next + 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === levels && next > start) cuts.push(start, next);
      depth -= 1;
    } else if (byte === quote) {
      stringStart = next;
      stringEnd = endOfString(bytes, next);
      next = stringEnd - 1;
    } else if (byte === colon) {
      hasEscapedKey ||= isEscaped(bytes, stringStart, stringEnd);
    }
  }
  if (depth >= levels) cuts.push(start, bytes.length);
  return { bytes: cuts.length === 0 ? bytes : cutOut(bytes, cuts), hasEscapedKey };
}

/** @param cuts the start and the end of each cut, in turn. */
function cutOut(bytes: Buffer, cuts: readonly number[]): Buffer {
  let length = bytes.length;
  for (let i = 0; i < cuts.length; i += 2) length -= (cuts[i + 1] ?? 0) - (cuts[i] ?? 0);
  const left = Buffer.allocUnsafe(length);
  let end = 0;
  for (let i = 0; i <= cuts.length; i += 2) end += bytes.copy(left, end, cuts[i - 1] ?? 0, cuts[i]);
  return left;
}

/** A string without an end is invalid JSON and extends to the last byte. */
function endOfString(bytes: Buffer, at: number): number {
  try {
    return skipString(bytes, at);
  } catch {
    return bytes.length;
  }
}
