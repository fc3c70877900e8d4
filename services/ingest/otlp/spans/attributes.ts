import { type Json, setMember } from '../../../../event/json/json-value.ts';

/** Attributes by name. Values are decoded on access, and once: of most spans only a few are read. */
export interface Attributes {
  /** In the order in which they were sent. Messages of a request with the same names may share the array. */
  readonly names: readonly string[];
  /** @throws UnstorableError when the value is nested too deep. */
  get(name: string): Json | undefined;
}

/** @param decode decodes a value of `encoded`. */
export function lazyAttributes<T>(encoded: ReadonlyMap<string, T>, decode: (value: T) => Json): Attributes {
  const decoded = new Map<string, Json>();
  return {
    names: [...encoded.keys()],
    get(name) {
      const value = encoded.get(name);
      return value === undefined ? undefined : decoded.getOrInsertComputed(name, () => decode(value));
    },
  };
}

export const noAttributes: Attributes = { names: [], get: () => undefined };

/** The value of an attribute, if it is text and not empty. */
export function textOf(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** All attributes except those in `without`. */
export function attributesToJson(attributes: Attributes, without: ReadonlySet<string> = new Set()) {
  const json: { [name: string]: Json } = {};
  for (const name of attributes.names) {
    if (!without.has(name)) setMember(json, name, attributes.get(name) ?? null);
  }
  return json;
}
