import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import type { Json } from '../../../event/json/json-value.ts';
import { readList, readStruct, readValue } from './protobuf-struct.ts';
import { checkEnd, readEnd, readString, skipField, type WireReader } from './protobuf-wire.ts';

export type JsonObject = Record<string, Json>;

/** Reads one message, up to `end`, as the corresponding object of the JSON API. */
export type ProtobufReader = (reader: WireReader, end: number) => JsonObject;

interface FieldReader {
  tag: number;
  read(reader: WireReader, message: JsonObject, messageEnd: number): void;
}

/**
 * Compiles a reader of a message type from its descriptor, so that a new field in the .proto needs no code
 * here. The objects equal those that `JSON.parse` returns for the same event in JSON, so that one validator
 * serves both. A generic protobuf reader creates message objects first, which takes three times as long (ADR
 * 0010).
 */
export function compileProtobufReader(desc: DescMessage): ProtobufReader {
  const fields: (FieldReader | undefined)[] = [];
  for (const field of desc.fields) fields[field.number] = compileField(field);
  const hasExtra = desc.fields.some((field) => field.name === 'extra');
  return (reader, end) => {
    const message: JsonObject = {};
    while (reader.pos < end) {
      const tag = reader.nextTag();
      const field = fields[tag >>> 3];
      // A field with another wire type than the declared one is unknown.
      if (field?.tag === tag) field.read(reader, message, end);
      else skipField(reader, tag);
    }
    checkEnd(reader, end);
    return hasExtra ? foldExtra(message) : message;
  };
}

/** Moves the members of `extra` up to the named fields, as in JSON. Named fields take precedence. */
export function foldExtra(message: JsonObject): JsonObject {
  if (message.extra === undefined) return message;
  const { extra, ...named } = message;
  return { ...(extra as JsonObject), ...named };
}

function compileField(field: DescField): FieldReader {
  const [wireType, readValue] = compileValue(field);
  const tag = (field.number << 3) | wireType;
  const name = field.jsonName;
  if (field.oneof !== undefined) return { tag, read: compilePayload(field, readValue) };
  return {
    tag,
    read: (reader, message, messageEnd) => {
      const value = readValue(reader, messageEnd);
      if (value !== undefined) message[name] = value;
    },
  };
}

/** In JSON the payload is in `properties`, under the name in `type`. Of several the last one wins. */
function compilePayload({ oneof, jsonName }: DescField, readPayload: ValueReader): FieldReader['read'] {
  if (oneof?.name !== 'payload') throw new Error(`No reader for the oneof ${oneof?.name}.`);
  return (reader, message, messageEnd) => {
    message.type = jsonName;
    message.properties = { [jsonName]: readPayload(reader, messageEnd) as Json };
  };
}

/** @returns undefined for a value that counts as unset. */
type ValueReader = (reader: WireReader, messageEnd: number) => Json | undefined;

function compileValue(field: DescField): [WireType, ValueReader] {
  if (field.fieldKind === 'message') return [WireType.LengthDelimited, compileNested(field.message)];
  if (field.fieldKind === 'enum') {
    // STATE_OK is "ok" in JSON. An unknown number is kept, and the validator reports it.
    const words = new Map(field.enum.values.map((value) => [value.number, value.localName.toLowerCase()]));
    const readWord: ValueReader = (reader) => {
      const number = reader.int32();
      return number === 0 ? undefined : (words.get(number) ?? number);
    };
    return [WireType.Varint, readWord];
  }
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING) {
    return [WireType.LengthDelimited, readString];
  }
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.DOUBLE) {
    return [WireType.Bit64, (reader) => reader.double()];
  }
  throw new Error(`No reader for ${field}: add its kind to compileValue.`);
}

function compileNested(desc: DescMessage): ValueReader {
  const known: Record<string, (reader: WireReader, end: number) => Json> = {
    'google.protobuf.Struct': readStruct,
    'google.protobuf.Value': readValue,
    'google.protobuf.ListValue': readList,
  };
  const read = known[desc.typeName] ?? compileProtobufReader(desc);
  return (reader, messageEnd) => read(reader, readEnd(reader, messageEnd));
}
