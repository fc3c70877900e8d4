import { jsonDepthMax } from '../limits.ts';

/**
 * JSON text that is inserted into an event unchanged: numbers keep all digits, and it is not serialized
 * again.
 */
export class JsonText {
  readonly text: string;

  /**
   * @param text valid JSON. Line breaks between tokens become spaces, because spool files hold one event per
   * line.
   */
  constructor(text: string) {
    this.text = /[\n\r]/.test(text) ? text.replace(/[\n\r]/g, ' ') : text;
  }

  /** Used by a plain `JSON.stringify`, as in a mask of the application. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/**
 * Serializes a value of the application. Values on which `JSON.stringify` throws are replaced: a BigInt by
 * its digits, a circular reference by `"[Circular]"`, a getter or `toJSON` that throws by
 * `"[Unserializable]"`.
 *
 * @returns undefined for a function or a symbol, as `JSON.stringify` does.
 * @throws Error when even that fails.
 */
export function jsonTextOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(toPlain(value, []));
  }
}

/**
 * Also converts maps, sets and errors. This runs only after `JSON.stringify` failed on the whole value;
 * otherwise they are `{}`, as usual in JavaScript.
 */
function toPlain(value: unknown, ancestors: readonly object[]): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (ancestors.includes(value)) return '[Circular]';
  if (ancestors.length >= jsonDepthMax) return '[Too deep]';
  const path = [...ancestors, value];
  try {
    if ('toJSON' in value && typeof value.toJSON === 'function') return toPlain(value.toJSON(), path);
    if (value instanceof Error) return { name: value.name, message: value.message };
    if (value instanceof Map) return toPlain(Object.fromEntries(value), path);
    if (value instanceof Set) return toPlain([...value], path);
    if (Array.isArray(value)) return value.map((item) => toPlain(item, path));
    return Object.fromEntries(Object.keys(value).map((key) => [key, memberOf(value, key, path)]));
  } catch {
    return '[Unserializable]';
  }
}

function memberOf(value: object, key: string, path: readonly object[]): unknown {
  try {
    return toPlain(Reflect.get(value, key), path);
  } catch {
    return '[Unserializable]';
  }
}
