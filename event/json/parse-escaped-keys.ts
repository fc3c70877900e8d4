import { setMember } from './json-value.ts';
import { newScanState, skipSpace, skipValue, walkArray, walkObject } from './scan.ts';

const openBrace = 0x7b;
const openBracket = 0x5b;

/**
 * Depth to which JSON.parse, ten times as fast, parses what has no escaped keys. Detecting them takes a scan
 * per level: unbounded, the work would grow with depth times bytes.
 */
const scannedLevels = 5;

/**
 * Parses JSON in which keys are written with escapes, to the value that JSON.parse should give. JSON.parse
 * can return a wrong key (nodejs/node#63785, a bug of V8): when another object of the process has the same
 * first keys, and its next key equals the beginning of the escaped key's source text. After one client's
 * `{"a":0,"\\":0}` it reads another's `{"a":1,"\u00e9":2}` as `{"a":1,"\\":2}`. So here it sees only single
 * keys and scalars, and values without escaped keys.
 * @param bytes valid UTF-8. The caller has bounded its nesting, and so the recursion.
 * @param parseText parses JSON without escaped keys; a caller that needs exact numbers passes its own.
 * @throws Error when the bytes are not JSON.
 */
export function parseEscapedKeys(bytes: Buffer, parseText: ParseText = JSON.parse): unknown {
  const parser = new Parser(bytes, parseText);
  const end = parser.parse(skipSpace(bytes, 0), 0);
  if (skipSpace(bytes, end) < bytes.length)
    throw new Error(`unexpected bytes after the JSON value, which ends at byte ${end}`);
  return parser.value;
}

type ParseText = (text: string) => unknown;

class Parser {
  readonly #bytes: Buffer;
  readonly #parseText: ParseText;
  value: unknown;

  constructor(bytes: Buffer, parseText: ParseText) {
    this.#bytes = bytes;
    this.#parseText = parseText;
  }

  /** The value at `at` lies within `depth` others. @returns the position after it. */
  parse(at: number, depth: number): number {
    const first = this.#bytes[at];
    if (first !== openBrace && first !== openBracket) {
      return this.#parseNatively(at, skipValue(this.#bytes, at));
    }
    if (depth < scannedLevels) {
      const scanState = newScanState(Number.POSITIVE_INFINITY);
      const end = skipValue(this.#bytes, at, scanState);
      if (!scanState.hasEscapedKey) return this.#parseNatively(at, end);
    }
    return first === openBrace ? this.#parseObject(at, depth) : this.#parseArray(at, depth);
  }

  #parseObject(at: number, depth: number): number {
    const object: Record<string, unknown> = {};
    const end = walkObject(this.#bytes, at, (key, valueStart) => {
      this.#parseNatively(key.start, key.end);
      const name = String(this.value);
      const valueEnd = this.parse(valueStart, depth + 1);
      setMember(object, name, this.value);
      return valueEnd;
    });
    this.value = object;
    return end;
  }

  #parseArray(at: number, depth: number): number {
    const array: unknown[] = [];
    const end = walkArray(this.#bytes, at, (start) => {
      const elementEnd = this.parse(start, depth + 1);
      array.push(this.value);
      return elementEnd;
    });
    this.value = array;
    return end;
  }

  #parseNatively(start: number, end: number): number {
    this.value = this.#parseText(this.#bytes.toString('utf8', start, end));
    return end;
  }
}
