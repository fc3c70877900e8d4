import { jsonDepthMax } from '../../platform/limits.ts';

/**
 * Walks over the bytes of JSON without building values, to cut parts out byte for byte. Each function takes a
 * value's position and returns that after it. Throws at errors in the structure and too deep nesting;
 * strings, numbers and literals are not checked.
 */

const quote = 0x22;
const backslash = 0x5c;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const comma = 0x2c;
const colon = 0x3a;

/** Examined one by one before `indexOf` searches a string's end: the call costs more. */
const shortStringBytes = 32;

/** The positions of a value: of its first byte, and of the byte after its last. */
export interface Range {
  start: number;
  end: number;
}

export interface ScanState {
  /** Whether a key is written with an escape (see parse-escaped-keys.ts). */
  hasEscapedKey: boolean;
  /** How many more may be nested. Members, elements, objects and arrays count: each costs parsing time. */
  valuesLeft: number;
  /** How deep objects and arrays may nest in the value that is skipped. */
  readonly depthMax: number;
  readonly known: KnownValues | undefined;
}

export interface KnownValues {
  /**
   * Called with each member of the objects in the value that is skipped.
   * @param key the positions of its key, quotes included. They are overwritten with each member.
   * @param depth how many objects and arrays of that value are around the member's value.
   * @param at the position after the colon.
   * @returns the position after the member's value if it is known, else `at`.
   */
  skip(bytes: Buffer, key: Range, depth: number, at: number): number;
}

/** @param valuesMax how many nested values there may be before the walk throws. */
export function newScanState(
  valuesMax: number,
  { depthMax = jsonDepthMax, known }: { depthMax?: number; known?: KnownValues | undefined } = {},
): ScanState {
  return { hasEscapedKey: false, valuesLeft: valuesMax, depthMax, known };
}

/** @param key with its quotes. @returns the position after the value. */
type VisitMember = (key: Range, valueStart: number) => number;

/** @returns the position after the element. */
type VisitElement = (start: number) => number;

/**
 * The last member of that name, as in JSON.parse. @returns undefined when the object has none.
 * @throws Error when `bytes` do not start with an object, white space aside.
 */
export function findMember(bytes: Buffer, name: string): Range | undefined {
  let found: Range | undefined;
  walkObject(bytes, skipSpace(bytes, 0), (key, valueStart) => {
    const end = skipValue(bytes, valueStart);
    if (isKey(bytes, key, name)) found = { start: valueStart, end };
    return end;
  });
  return found;
}

/** Visits each of the object's own members. */
export function walkObject(bytes: Buffer, at: number, visit: VisitMember): number {
  expect(bytes, at, openBrace);
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === closeBrace) return next + 1;
  for (;;) {
    const key = { start: next, end: skipString(bytes, next) };
    next = skipSpace(bytes, key.end);
    expect(bytes, next, colon);
    next = skipSpace(bytes, visit(key, skipSpace(bytes, next + 1)));
    if (bytes[next] === closeBrace) return next + 1;
    expect(bytes, next, comma);
    next = skipSpace(bytes, next + 1);
  }
}

/** Visits each of the array's own elements. */
export function walkArray(bytes: Buffer, at: number, visit: VisitElement): number {
  expect(bytes, at, openBracket);
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === closeBracket) return next + 1;
  for (;;) {
    next = skipSpace(bytes, visit(next));
    if (bytes[next] === closeBracket) return next + 1;
    expect(bytes, next, comma);
    next = skipSpace(bytes, next + 1);
  }
}

/** Whether a key's source text, with quotes and escapes, is `name`, which is plain ASCII. */
export function isKey(bytes: Buffer, key: Range, name: string): boolean {
  // Lengths first: an object may have a million keys. An escape takes two to six bytes for a character.
  const writtenBytes = key.end - key.start - 2;
  if (writtenBytes < name.length || writtenBytes > name.length * escapeBytesMax) return false;
  if (isEscaped(bytes, key.start, key.end)) {
    return JSON.parse(bytes.toString('utf8', key.start, key.end)) === name;
  }
  return writtenBytes === name.length && hasText(bytes, key.start + 1, name);
}

/** Faster than `toString` and `compare` for texts as short as keys. */
function hasText(bytes: Buffer, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** Length of `\u0041`. */
const escapeBytesMax = 6;

/** Whether the string at these positions is written with an escape. */
export function isEscaped(bytes: Buffer, start: number, end: number): boolean {
  // `indexOf` would search to the end of `bytes` for each string without a backslash.
  for (let next = start; next < end; next++) if (bytes[next] === backslash) return true;
  return false;
}

export function skipValue(bytes: Buffer, at: number, scanState?: ScanState): number {
  const first = bytes[at];
  if (first === quote) return skipString(bytes, at);
  if (first === openBrace || first === openBracket) return skipContainer(bytes, at, scanState);
  let next = at;
  while (next < bytes.length && !endsScalar(bytes[next])) next++;
  if (next === at) throw damaged(at);
  return next;
}

/** JSON has four such characters. */
export function skipSpace(bytes: Buffer, at: number): number {
  let next = at;
  for (;;) {
    const byte = bytes[next];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return next;
    next++;
  }
}

function skipContainer(bytes: Buffer, at: number, scanState?: ScanState): number {
  const depthMax = scanState?.depthMax ?? jsonDepthMax;
  const known = scanState?.known;
  let depth = 0;
  const string = { start: at, end: at };
  for (let next = at; next < bytes.length; ) {
    const byte = bytes[next];
    if (byte === quote) {
      string.start = next;
      string.end = next = skipString(bytes, next);
      continue;
    }
    next++;
    if (byte === comma) countValue(scanState);
    else if (byte === colon) {
      if (scanState !== undefined && isEscaped(bytes, string.start, string.end)) noteEscapedKey(scanState);
      if (known !== undefined) next = known.skip(bytes, string, depth, next);
    } else if (byte === openBrace || byte === openBracket) {
      countValue(scanState);
      if (++depth > depthMax) throw new Error(`JSON is nested too deep at byte ${next}`);
    } else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return next;
  }
  throw damaged(at);
}

/** @throws Error when there are more values than `valuesMax`. */
export function countValue(scanState?: ScanState): void {
  if (scanState !== undefined && --scanState.valuesLeft < 0) throw new Error('JSON has too many values');
}

/** @throws Error past the limit: an escaped key counts as a value, because it is parsed separately. */
export function noteEscapedKey(scanState: ScanState): void {
  scanState.hasEscapedKey = true;
  countValue(scanState);
}

/** The opening quote is at `at`. */
export function skipString(bytes: Buffer, at: number): number {
  expect(bytes, at, quote);
  for (let start = at + 1; ; ) {
    let next = start;
    for (const end = Math.min(start + shortStringBytes, bytes.length); next < end; next++) {
      const byte = bytes[next];
      if (byte === quote) return next + 1;
      if (byte === backslash) next++;
    }
    const found = bytes.indexOf(quote, next);
    if (found === -1) throw damaged(at);
    let first = found;
    while (first > next && bytes[first - 1] === backslash) first--;
    // An even number of back-slashes escape each other, not the quote.
    if ((found - first) % 2 === 0) return found + 1;
    start = found + 1;
  }
}

function endsScalar(byte: number | undefined): boolean {
  return (
    byte === comma ||
    byte === closeBrace ||
    byte === closeBracket ||
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09
  );
}

function expect(bytes: Buffer, at: number, byte: number): void {
  if (bytes[at] !== byte) throw damaged(at);
}

function damaged(at: number): Error {
  return new Error(`JSON is damaged at byte ${at}`);
}
