import { digitsOf } from '../../../../event/json/exact-json.ts';
import type { Json } from '../../../../event/json/json-value.ts';
import { type Attributes, attributesToJson } from '../spans/attributes.ts';
import { objectIn } from './json-object.ts';
import type { NameIndex, RepeatedValues } from './repeated-values.ts';
import { type CompiledRow, type Convention, conventions, nameOf, type Row } from './rows.ts';

/** A value, and the names of the attributes that it was read from. */
export interface Found {
  readonly value: Json;
  readonly names: readonly string[];
}

/**
 * Reads the fields of an event from the attributes of one span, by the rows of the table. Attributes that no
 * field has taken are stored unchanged (`rest`).
 */
export class AttributeReader {
  readonly #attributes: Attributes;
  readonly #by: Convention;
  readonly #repeated: RepeatedValues;
  readonly #taken = new Set<string>();
  readonly #names: NameIndex;
  /** Attributes that hold a JSON object; undefined when they do not. */
  readonly #objects = new Map<string, { readonly [key: string]: Json } | undefined>();

  /** @param by the convention whose column is searched first. */
  constructor(attributes: Attributes, by: Convention, repeated: RepeatedValues) {
    this.#attributes = attributes;
    this.#by = by;
    this.#repeated = repeated;
    this.#names = repeated.indexOf(attributes.names);
  }

  /** Finds a field without taking it: the caller takes it if the event holds all of its value. */
  find(row: CompiledRow, isGood: (value: Json) => boolean = () => true): Found | undefined {
    return this.#first(row, (found) => (isGood(found.value) ? found : undefined));
  }

  /** Finds the first value that `read` reads, which reads equal values of a request once. */
  findRead<T extends object>(
    row: CompiledRow,
    read: (value: Json) => T | undefined,
  ): (Found & { read: T }) | undefined {
    return this.#first(row, (found) => {
      const result = this.#repeated.read(found.value, read);
      return result && { ...found, read: result };
    });
  }

  /** All values of a field, in the order of the row. */
  *findAll(row: CompiledRow): Generator<Found> {
    if (!this.#names.rows.has(row)) return;
    for (const place of placesOf(row, this.#by)) {
      const found = this.#findAt(place);
      if (found !== undefined && isPresent(found.value)) yield found;
    }
  }

  take({ names }: Found): void {
    for (const name of names) this.#taken.add(name);
  }

  /** Takes a field as text; numbers and booleans are converted. */
  text(row: CompiledRow): string | undefined {
    return this.#takeFirst(row, asText);
  }

  /** Takes a field as a number; numeric text is converted. */
  number(row: CompiledRow): number | undefined {
    return this.#takeFirst(row, asNumber);
  }

  get(name: string): Json | undefined {
    return this.#attributes.get(name);
  }

  /** The names of the attributes that no field has taken so far. */
  untaken(): string[] {
    return this.#attributes.names.filter((name) => !this.#taken.has(name));
  }

  /** The attributes that no field has taken. */
  rest(): { [name: string]: Json } {
    return attributesToJson(this.#attributes, this.#taken);
  }

  #takeFirst<T>(row: CompiledRow, read: (value: Json) => T | undefined): T | undefined {
    return this.#first(row, (found) => {
      const result = read(found.value);
      if (result !== undefined) this.take(found);
      return result;
    });
  }

  /** The first result of `read` for a value of the field. */
  #first<T>(row: CompiledRow, read: (found: Found) => T | undefined): T | undefined {
    if (!this.#names.rows.has(row)) return undefined;
    for (const place of placesOf(row, this.#by)) {
      const found = this.#findAt(place);
      const result = found !== undefined && isPresent(found.value) ? read(found) : undefined;
      if (result !== undefined) return result;
    }
    return undefined;
  }

  #findAt({ name, member, isList }: Place): Found | undefined {
    if (isList) return this.#findList(name);
    if (member !== undefined) return this.#findMember(name, member);
    const value = this.get(name);
    if (value === undefined) return undefined;
    // MLflow sends every value as JSON text, also a text.
    const isQuoted = typeof value === 'string' && name.startsWith('mlflow.');
    return { value: isQuoted ? unquoted(value) : value, names: [name] };
  }

  #findList(prefix: string): Found | undefined {
    const list = this.#names.lists.get(prefix);
    return list && this.#repeated.list(this.#attributes, list);
  }

  /** The object has other members, too: it is not taken. */
  #findMember(attribute: string, member: string): Found | undefined {
    const object = this.object(attribute);
    const value = object !== undefined && Object.hasOwn(object, member) ? object[member] : undefined;
    return value === undefined ? undefined : { value, names: [] };
  }

  /** The object in an attribute, or in its JSON text. */
  object(attribute: string): { readonly [key: string]: Json } | undefined {
    if (!this.#objects.has(attribute)) {
      this.#objects.set(attribute, objectIn(this.get(attribute)));
    }
    return this.#objects.get(attribute);
  }
}

/** Where a field is looked up: an attribute, the list with this prefix, or a member of an attribute. */
interface Place {
  readonly name: string;
  readonly isList: boolean;
  readonly member: string | undefined;
}

const places = new Map<Convention, WeakMap<Row, readonly Place[]>>(
  conventions.map((convention) => [convention, new WeakMap()]),
);

/** The places of a row in the order in which they are searched. */
function placesOf(row: Row, by: Convention): readonly Place[] {
  const known = places.get(by)?.get(row);
  if (known !== undefined) return known;
  const columns = [by, ...conventions.filter((convention) => convention !== by)];
  const read = columns.flatMap((column) => (row[column] ?? []).map(placeOf));
  places.get(by)?.set(row, read);
  return read;
}

function placeOf(text: string): Place {
  return { name: nameOf(text), isList: text.endsWith('.*'), member: text.split('#')[1] };
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
