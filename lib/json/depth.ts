import { skipString } from './scan.ts';

const quote = 0x22;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Whether a value nests objects and arrays more than `levels` deep. Recursion is bounded by `levels`. */
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
 * The same JSON without what lies in objects and arrays of the level `levels`, so that it nests no deeper: JSON.parse
 * takes half a second for 4 MiB of brackets, and nothing else runs meanwhile. Bytes that are no JSON stay no JSON, unless
 * they were so only where they are cut out.
 *
 * @returns `bytes` themselves when they nest no deeper.
 */
export function cutDeeper(bytes: Buffer, levels: number): Buffer {
  const cuts: number[] = [];
  const { length } = bytes;
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
      next = endOfString(bytes, next) - 1;
    }
  }
  if (depth >= levels) cuts.push(start, bytes.length);
  return cuts.length === 0 ? bytes : cutOut(bytes, cuts);
}

/** @param cuts where each cut begins and ends, in turn. */
function cutOut(bytes: Buffer, cuts: readonly number[]): Buffer {
  let length = bytes.length;
  for (let i = 0; i < cuts.length; i += 2) length -= (cuts[i + 1] ?? 0) - (cuts[i] ?? 0);
  const left = Buffer.allocUnsafe(length);
  let end = 0;
  for (let i = 0; i <= cuts.length; i += 2) end += bytes.copy(left, end, cuts[i - 1] ?? 0, cuts[i]);
  return left;
}

/** Where a string ends; one that does not is no JSON, and reaches to the end. */
function endOfString(bytes: Buffer, at: number): number {
  try {
    return skipString(bytes, at);
  } catch {
    return bytes.length;
  }
}
