import { skipString } from './scan.ts';

const quote = 0x22;
const [openBrace, closeBrace] = [0x7b, 0x7d];
const [openBracket, closeBracket] = [0x5b, 0x5d];
const space = 0x20;

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
 * The same JSON, with white space for what lies in objects and arrays of the level `levels`, so that it nests no deeper:
 * JSON.parse takes half a second for 4 MiB of brackets, and nothing else runs meanwhile. Every other byte stays where it
 * is. Bytes that are no JSON stay no JSON, unless they were so only where it is blank now.
 *
 * @returns `bytes` themselves when they nest no deeper.
 */
export function blankDeeper(bytes: Buffer, levels: number): Buffer {
  let blanked = bytes;
  let depth = 0;
  let start = 0;
  const blankUntil = (end: number) => {
    if (end === start) return;
    if (blanked === bytes) blanked = Buffer.from(bytes);
    blanked.fill(space, start, end);
  };
  for (let next = 0; next < bytes.length; next++) {
    const byte = bytes[next];
    if (byte === quote) next = endOfString(bytes, next) - 1;
    else if (byte === openBrace || byte === openBracket) {
      if (++depth === levels) start = next + 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth-- === levels) blankUntil(next);
    }
  }
  if (depth >= levels) blankUntil(bytes.length);
  return blanked;
}

/** Where a string ends; one that does not is no JSON, and reaches to the end. */
function endOfString(bytes: Buffer, at: number): number {
  try {
    return skipString(bytes, at);
  } catch {
    return bytes.length;
  }
}
