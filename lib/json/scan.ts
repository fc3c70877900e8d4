import { jsonDepthMax } from '../limits.ts';

/**
 * Walks over the bytes of valid JSON without building values, so that a part of it can be taken or replaced byte for
 * byte. Every function takes a position and returns the position after what it walked over. They trust that JSON.parse
 * would accept the bytes; where they notice that it would not they throw, so that damage is not shown as data. They throw
 * as well where a value nests deeper than any body may: JSON.parse takes half a second for 4 MiB of brackets.
 */

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;

/** So much of a string is walked byte by byte before its end is searched: a native call costs more than that. */
const shortStringBytes = 32;

/** The positions of a value: from its first byte to the one after its last. */
export interface Range {
  start: number;
  end: number;
}

/** What is noticed on the way. */
export interface Findings {
  /** Whether a string, and so maybe a key, begins with a back-slash that is its own (parse-apart.ts). */
  hasBackslashFirst: boolean;
  /** How many more values there may be within others, give or take one for each of those: what it costs to parse them. */
  valuesLeft: number;
}

/** @param valuesMax how many values there may be within others before the walk ends, with an error. */
export function noFindings(valuesMax: number): Findings {
  return { hasBackslashFirst: false, valuesLeft: valuesMax };
}

/** Called with a member's key (quotes included) and the start of its value; returns the end of the value. */
type VisitMember = (key: Range, valueStart: number) => number;

/**
 * Finds the value that JSON.parse gives a member of the object in `bytes`: of several of that name the last one.
 *
 * @returns undefined when the object has no such member.
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

/** Walks over the object that starts at `at`, and shows each of its own members. @returns the object's end. */
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

/** Walks over the array that starts at `at`, and shows each element's positions. @returns the array's end. */
export function walkArray(
  bytes: Buffer,
  at: number,
  visit: (element: Range) => void,
  findings?: Findings,
): number {
  expect(bytes, at, openBracket);
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === closeBracket) return next + 1;
  for (;;) {
    const end = skipValue(bytes, next, findings);
    visit({ start: next, end });
    next = skipSpace(bytes, end);
    if (bytes[next] === closeBracket) return next + 1;
    expect(bytes, next, comma);
    next = skipSpace(bytes, next + 1);
  }
}

/** Whether a key as it is written, quotes and escapes included, stands for `name`, which is plain ASCII. */
export function isKey(bytes: Buffer, key: Range, name: string): boolean {
  const written = bytes.toString('latin1', key.start + 1, key.end - 1);
  if (written === name) return true;
  return written.includes('\\') && JSON.parse(bytes.toString('utf8', key.start, key.end)) === name;
}

/** Skips the value that starts at `at`. */
export function skipValue(bytes: Buffer, at: number, findings?: Findings): number {
  const first = bytes[at];
  if (first === quote) return skipString(bytes, at);
  if (first === openBrace || first === openBracket) return skipContainer(bytes, at, findings);
  let next = at;
  while (next < bytes.length && !endsScalar(bytes[next])) next++;
  if (next === at) throw damaged(at);
  return next;
}

/** Skips white space, of which JSON knows four characters. */
export function skipSpace(bytes: Buffer, at: number): number {
  let next = at;
  for (;;) {
    const byte = bytes[next];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return next;
    next++;
  }
}

function skipContainer(bytes: Buffer, at: number, findings?: Findings): number {
  let depth = 0;
  for (let next = at; next < bytes.length; ) {
    const byte = bytes[next];
    if (byte === quote) {
      if (findings !== undefined && isBackslashFirst(bytes, next)) findings.hasBackslashFirst = true;
      next = skipString(bytes, next);
      continue;
    }
    next++;
    if (byte === comma) countValue(findings);
    else if (byte === openBrace || byte === openBracket) {
      countValue(findings);
      if (++depth > jsonDepthMax) throw new Error(`JSON is nested too deep at byte ${next}`);
    } else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return next;
  }
  throw damaged(at);
}

/** @throws Error when it is one too many. */
export function countValue(findings?: Findings): void {
  if (findings !== undefined && --findings.valuesLeft < 0) throw new Error('JSON has too many values');
}

/** Whether the string whose opening quote is at `at` begins with a back-slash, written as `\\` or as `\u005c`. */
export function isBackslashFirst(bytes: Buffer, at: number): boolean {
  if (bytes[at + 1] !== backslash) return false;
  return bytes[at + 2] === backslash || /^u005c/i.test(bytes.toString('latin1', at + 2, at + 7));
}

/** Skips the string whose opening quote is at `at`. */
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
