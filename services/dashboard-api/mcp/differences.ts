import {
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  skipSpace,
  skipValue,
} from '../../../event/json/scan.ts';
import { visitInSlices } from '../slices.ts';
import { comparedPathCharsMax, comparedValuesMax } from './limits.ts';

/** A missing value is absent. */
export interface Difference {
  path: string;
  a?: unknown;
  b?: unknown;
}

/**
 * Compares two JSON texts value by value, in slices.
 * @returns the differences in the order of the first text, and whether all were looked at.
 */
export async function findDifferences(
  a: string,
  b: string,
): Promise<{ differences: Difference[]; isComplete: boolean }> {
  const before = await readValues(a);
  const after = await readValues(b);
  const differences: Difference[] = [];
  await visitInSlices(new Set([...before.values.keys(), ...after.values.keys()]), (path) => {
    const [isInA, isInB] = [before.values.has(path), after.values.has(path)];
    const [ofA, ofB] = [before.values.get(path), after.values.get(path)];
    if (isInA && isInB && ofA === ofB) return;
    differences.push({ path, ...(isInA && { a: ofA }), ...(isInB && { b: ofB }) });
  });
  return { differences, isComplete: before.isComplete && after.isComplete };
}

interface PathValues {
  values: ReadonlyMap<string, unknown>;
  /** False when the value has more, or longer paths, than a comparison looks at. */
  isComplete: boolean;
}

/** Values by path, such as `messages[0].role`. Paths are bounded: a key can be a megabyte. */
async function readValues(text: string): Promise<PathValues> {
  const values = new Map<string, unknown>();
  let pathChars = 0;
  let isComplete = true;
  await visitInSlices(leavesOf(Buffer.from(text)).take(comparedValuesMax + 1), ([path, value]) => {
    pathChars += path.length;
    isComplete &&= values.size < comparedValuesMax && pathChars <= comparedPathCharsMax;
    if (isComplete) values.set(path, value);
  });
  return { values, isComplete };
}

interface OpenContainer {
  readonly path: string;
  readonly isArray: boolean;
  /** Elements of an array before the next one. */
  count: number;
}

/**
 * Values that are no containers, or empty ones, one by one: parsing all of 4 MiB may block for half a second.
 */
function* leavesOf(bytes: Buffer): Generator<[path: string, value: unknown]> {
  const open: OpenContainer[] = [];
  let path = '';
  let at = skipSpace(bytes, 0);
  for (;;) {
    const isArray = bytes[at] === openBracket;
    const inner = isArray || bytes[at] === openBrace ? skipSpace(bytes, at + 1) : at;
    if (inner !== at && bytes[inner] !== closeBracket && bytes[inner] !== closeBrace) {
      open.push({ path, isArray, count: 0 });
      at = inner;
    } else {
      const end = inner === at ? skipValue(bytes, at) : inner + 1;
      yield [path, inner === at ? parse(bytes, at, end) : isArray ? '[]' : '{}'];
      at = skipSpace(bytes, end);
      for (; bytes[at] !== comma; at = skipSpace(bytes, at + 1)) if (open.pop() === undefined) return;
      at = skipSpace(bytes, at + 1);
    }
    const parent = open.at(-1);
    if (parent?.isArray === true) path = `${parent.path}[${parent.count++}]`;
    else if (parent !== undefined) {
      const end = skipValue(bytes, at);
      const name = String(parse(bytes, at, end));
      path = parent.path === '' ? name : `${parent.path}.${name}`;
      at = skipSpace(bytes, skipSpace(bytes, end) + 1);
    }
  }
}

function parse(bytes: Buffer, at: number, end: number): unknown {
  return JSON.parse(bytes.toString('utf8', at, end));
}
