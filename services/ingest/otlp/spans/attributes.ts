import type { Json } from '../../read/protobuf-struct.ts';

/** Attributes by name. A value is decoded when it is asked for: of most spans a few are looked up, and no more. */
export interface Attributes {
  readonly names: Iterable<string>;
  /** @throws UnstorableError when the value nests too deep. */
  get(name: string): Json | undefined;
}

/** @param decode makes the value of what stands for it in `encoded`. */
export function lazyAttributes<T>(encoded: ReadonlyMap<string, T>, decode: (value: T) => Json): Attributes {
  return {
    get names() {
      return encoded.keys();
    },
    get(name) {
      const value = encoded.get(name);
      return value === undefined ? undefined : decode(value);
    },
  };
}

export const noAttributes: Attributes = { names: [], get: () => undefined };

/** The value of an attribute where it is text that is not empty. */
export function textOf(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** All attributes, but those that `without` names. */
export function attributesToJson(attributes: Attributes, without: ReadonlySet<string> = new Set()) {
  const json: { [name: string]: Json } = {};
  for (const name of attributes.names) {
    if (!without.has(name)) setMember(json, name, attributes.get(name) ?? null);
  }
  return json;
}

/** Sets a member, also one whose name is `__proto__`. */
export function setMember(object: { [name: string]: Json }, name: string, value: Json): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
