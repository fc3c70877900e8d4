import { digitsOf } from '../../../../event/json/exact-json.ts';
import type { Json } from '../../read/protobuf-struct.ts';
import { type Attributes, attributesToJson } from '../spans/attributes.ts';
import { parseEmbeddedJson } from '../spans/exact-json.ts';
import { listOf } from './indexed.ts';
import { isJsonObject } from './messages/messages.ts';
import { type Convention, conventions, type Row } from './table.ts';

/** A value, and the names of the attributes that it was read from. */
export interface Found {
  readonly value: Json;
  readonly names: readonly string[];
}

/**
 * Reads the fields of an event from the attributes of one span, by the rows of the table. Attributes that no field has
 * taken are stored unchanged (`rest`).
 */
export class AttributeReader {
  readonly #attributes: Attributes;
  readonly #columns: readonly Convention[];
  readonly #taken = new Set<string>();
  /** Attributes that hold a JSON object; undefined when they do not. */
  readonly #objects = new Map<string, { readonly [key: string]: Json } | undefined>();

  /** @param by the convention whose column is searched first. */
  constructor(attributes: Attributes, by: Convention) {
    this.#attributes = attributes;
    this.#columns = [by, ...conventions.filter((convention) => convention !== by)];
  }

  /** Finds a field without taking it: the caller takes it if the event holds all of its value. */
  find(row: Row, isGood: (value: Json) => boolean = isPresent): Found | undefined {
    for (const found of this.findAll(row)) if (isGood(found.value)) return found;
    return undefined;
  }

  /** All values of a field, in the order of the row. */
  *findAll(row: Row): Generator<Found> {
    for (const column of this.#columns) {
      for (const name of row[column] ?? []) {
        const found = this.#findOne(name);
        if (found !== undefined && isPresent(found.value)) yield found;
      }
    }
  }

  take({ names }: Found): void {
    for (const name of names) this.#taken.add(name);
  }

  /** Takes a field as text; numbers and booleans are converted. */
  text(row: Row): string | undefined {
    const found = this.find(row, (value) => asText(value) !== undefined);
    if (found === undefined) return undefined;
    this.take(found);
    return asText(found.value);
  }

  /** Takes a field as a number; numeric text is converted. */
  number(row: Row): number | undefined {
    const found = this.find(row, (value) => asNumber(value) !== undefined);
    if (found === undefined) return undefined;
    this.take(found);
    return asNumber(found.value);
  }

  get(name: string): Json | undefined {
    return this.#attributes.get(name);
  }

  /** The names of the attributes that no field has taken so far. */
  untaken(): string[] {
    return [...this.#attributes.names].filter((name) => !this.#taken.has(name));
  }

  /** The attributes that no field has taken. */
  rest(): { [name: string]: Json } {
    return attributesToJson(this.#attributes, this.#taken);
  }

  #findOne(name: string): Found | undefined {
    if (name.endsWith('.*')) return listOf(this.#attributes, name.slice(0, -1));
    const [attribute = '', member] = name.split('#');
    if (member !== undefined) return this.#findMember(attribute, member);
    const value = this.#attributes.get(name);
    if (value === undefined) return undefined;
    // MLflow sends every value as JSON text, also a text.
    const isQuoted = typeof value === 'string' && name.startsWith('mlflow.');
    return { value: isQuoted ? unquoted(value) : value, names: [name] };
  }

  /** The object has other members, too: it is not taken. */
  #findMember(attribute: string, member: string): Found | undefined {
    const object = this.#readObject(attribute);
    const value = object !== undefined && Object.hasOwn(object, member) ? object[member] : undefined;
    return value === undefined ? undefined : { value, names: [] };
  }

  #readObject(attribute: string): { readonly [key: string]: Json } | undefined {
    if (!this.#objects.has(attribute)) {
      const value = this.#attributes.get(attribute);
      const json = typeof value === 'string' ? parseEmbeddedJson(value) : value;
      this.#objects.set(attribute, isJsonObject(json) ? json : undefined);
    }
    return this.#objects.get(attribute);
  }
}

function isPresent(value: Json): boolean {
  return value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

function asText(value: Json): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? unquoted(value) : digitsOf(value);
}

/** Langfuse sends each text of metadata as JSON: `"pro"` with its quotes. */
export function unquoted(text: string): string {
  if (!/^".*"$/s.test(text)) return text;
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'string' ? json : text;
  } catch {
    return text;
  }
}

export function asNumber(value: Json | undefined): number | undefined {
  const number =
    typeof value === 'string' && value.trim() !== '' ? Number(value) : (digitsOf(value) ?? value);
  const finite = typeof number === 'string' ? Number(number) : number;
  return typeof finite === 'number' && Number.isFinite(finite) ? finite : undefined;
}
