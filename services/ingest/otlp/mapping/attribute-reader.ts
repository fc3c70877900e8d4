import type { Json } from '../../read/protobuf-struct.ts';
import { type Attributes, attributesToJson } from '../spans/attributes.ts';
import { digitsOf } from '../spans/exact-json.ts';
import { listOf } from './indexed.ts';
import { type Convention, conventions, type Row } from './table.ts';

/** A value that was found, and the attributes that hold it. */
export interface Found {
  readonly value: Json;
  readonly names: readonly string[];
}

/**
 * Takes the attributes of one span into the fields of an event, by the rows of the table. Attributes that no row
 * takes stay in the event unchanged.
 */
export class AttributeReader {
  readonly #attributes: Attributes;
  readonly #columns: readonly Convention[];
  readonly #taken = new Set<string>();

  /** @param by the convention whose column is asked first. */
  constructor(attributes: Attributes, by: Convention) {
    this.#attributes = attributes;
    this.#columns = [by, ...conventions.filter((convention) => convention !== by)];
  }

  /** Looks a field up without taking it: the caller decides whether the event has all of it. */
  find(row: Row, isGood: (value: Json) => boolean = isPresent): Found | undefined {
    for (const column of this.#columns) {
      for (const name of row[column] ?? []) {
        const found = this.#findOne(name);
        if (found !== undefined && isGood(found.value)) return found;
      }
    }
    return undefined;
  }

  take({ names }: Found): void {
    for (const name of names) this.#taken.add(name);
  }

  /** Takes a field that is text; numbers and booleans become text. */
  text(row: Row): string | undefined {
    const found = this.find(row, (value) => asText(value) !== undefined);
    if (found === undefined) return undefined;
    this.take(found);
    return asText(found.value);
  }

  /** Takes a field that is a number, or text that is one. */
  number(row: Row): number | undefined {
    const found = this.find(row, (value) => asNumber(value) !== undefined);
    if (found === undefined) return undefined;
    this.take(found);
    return asNumber(found.value);
  }

  get(name: string): Json | undefined {
    return this.#attributes.get(name);
  }

  /** The names of the attributes that no field took so far. */
  untaken(): string[] {
    return [...this.#attributes.names].filter((name) => !this.#taken.has(name));
  }

  /** The attributes that no field took. */
  rest(): { [name: string]: Json } {
    return attributesToJson(this.#attributes, this.#taken);
  }

  #findOne(name: string): Found | undefined {
    if (name.endsWith('.*')) return listOf(this.#attributes, name.slice(0, -1));
    const value = this.#attributes.get(name);
    return value === undefined ? undefined : { value, names: [name] };
  }
}

function isPresent(value: Json): boolean {
  return value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

function asText(value: Json): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : digitsOf(value);
}

export function asNumber(value: Json | undefined): number | undefined {
  const number =
    typeof value === 'string' && value.trim() !== '' ? Number(value) : (digitsOf(value) ?? value);
  const finite = typeof number === 'string' ? Number(number) : number;
  return typeof finite === 'number' && Number.isFinite(finite) ? finite : undefined;
}
