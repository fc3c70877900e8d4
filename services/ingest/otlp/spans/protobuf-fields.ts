import type { Json } from '../../../../event/json/json-value.ts';
import { checkEnd, readEnd, skipField, type WireReader } from '../../read/protobuf-wire.ts';
import { attributesMax } from '../limits.ts';
import { readAnyValue, readBytes } from './any-value.ts';
import { type Attributes, noAttributes } from './attributes.ts';
import { explainMalformed } from './malformed.ts';
import { UnstorableError } from './span.ts';
import { tags } from './tags.ts';

/** Reads the value of one field into the draft of its message. The tag was read before. */
export type ReadField<T> = (target: T, reader: WireReader, messageEnd: number) => void;

/** The readers of a message's fields, by their tags. */
export type FieldReaders<T> = Readonly<Record<number, ReadField<T> | undefined>>;

/** Reads a message up to `end`. Fields without a reader are skipped. */
export function readFields<T>(reader: WireReader, end: number, fields: FieldReaders<T>, target: T): T {
  while (reader.pos < end) {
    const tag = reader.nextTag();
    const readField = fields[tag];
    if (readField === undefined) skipField(reader, tag);
    else readField(target, reader, end);
  }
  checkEnd(reader, end);
  return target;
}

/** The reader of a singular field. If the field occurs more than once, the last value wins. */
export function field<T, K extends keyof T>(
  name: K,
  read: (reader: WireReader, messageEnd: number) => T[K],
): ReadField<T> {
  return (target, reader, messageEnd) => {
    target[name] = read(reader, messageEnd);
  };
}

/** The attribute fields that several message types share. */
export interface Attributed {
  attributes: AttributeCollector;
  droppedAttributes: number;
}

export function attributeFields(numbers: {
  attributes: number;
  droppedAttributesCount: number;
}): FieldReaders<Attributed> {
  return {
    [numbers.attributes]: ({ attributes }, reader, messageEnd) => attributes.add(reader, messageEnd),
    [numbers.droppedAttributesCount]: field<Attributed, 'droppedAttributes'>('droppedAttributes', uint32),
  };
}

/** Reads a message with attributes up to `end`. @param draft its other fields, without values. */
export function readAttributed<T extends object>(
  reader: WireReader,
  end: number,
  fields: FieldReaders<T & Attributed>,
  draft: T,
) {
  const target = { ...draft, attributes: new AttributeCollector(), droppedAttributes: 0 };
  const { attributes, ...others } = readFields(reader, end, fields, target);
  return { ...others, attributes: attributes.toAttributes(reader) };
}

/** Collects the attributes of one message. Of duplicate names the last one wins, as in JSON. */
export class AttributeCollector {
  /** Where each name starts and ends. */
  readonly #names: number[] = [];
  /** The position of each value's length prefix. */
  readonly #values: number[] = [];

  /** Reads a KeyValue without decoding it. */
  add(reader: WireReader, messageEnd: number): void {
    const end = readEnd(reader, messageEnd);
    let [nameStart, nameEnd] = [end, end];
    let value: number | undefined;
    while (reader.pos < end) {
      const tag = reader.nextTag();
      if (tag === tags.keyValue.key) {
        nameEnd = readEnd(reader, end);
        nameStart = reader.pos;
        reader.pos = nameEnd;
        continue;
      }
      if (tag === tags.keyValue.value) value = reader.pos;
      skipField(reader, tag);
    }
    checkEnd(reader, end);
    if (value === undefined) return;
    this.#names.push(nameStart, nameEnd);
    if (this.#values.push(value) > attributesMax) {
      throw new UnstorableError(`A span has more than ${attributesMax} attributes.`);
    }
  }

  toAttributes(reader: WireReader): Attributes {
    if (this.#values.length === 0) return noAttributes;
    const starts = this.#values;
    const list = reader.names.find(this.#names);
    const values: (Json | undefined)[] = [];
    return {
      names: list.names,
      get(name) {
        const place = list.places.get(name);
        if (place === undefined) return undefined;
        const known = values[place];
        if (known !== undefined) return known;
        reader.pos = starts[place] ?? 0;
        const value = explainMalformed(() => readValue(reader, name));
        values[place] = value;
        return value;
      },
    };
  }
}

function readValue(reader: WireReader, name: string): Json {
  const end = readEnd(reader, reader.len);
  const start = reader.pos;
  const isText =
    start < end && reader.nextTag() === tags.anyValue.stringValue && readEnd(reader, end) === end;
  if (isText) return reader.names.textOf(name, reader.pos, end);
  reader.pos = start;
  return readAnyValue(reader, end);
}

/** An id as lower-case hexadecimal. */
export function readId(reader: WireReader, messageEnd: number): string {
  return readBytes(reader, messageEnd).toString('hex');
}

export const int32 = (reader: WireReader) => reader.int32();
export const uint32 = (reader: WireReader) => reader.uint32();
export const fixed32 = (reader: WireReader) => reader.fixed32();
export const fixed64 = (reader: WireReader) => BigInt(reader.fixed64());
