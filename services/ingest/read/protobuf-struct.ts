import { IngestError } from '../../../event/errors.ts';
import { type Json, setMember } from '../../../event/json/json-value.ts';
import { jsonDepthMax } from '../../../platform/limits.ts';
import {
  checkEnd,
  MalformedMessageError,
  readEnd,
  readString,
  skipField,
  type WireReader,
} from './protobuf-wire.ts';

/** Tags of google/protobuf/struct.proto: field number × 8 + wire type. */
const tags = {
  value: { null: 8, number: 17, string: 26, bool: 32, struct: 42, list: 50 },
  struct: { entry: 10 },
  entry: { key: 10, value: 18 },
  list: { item: 10 },
} as const;

/** Reads a google.protobuf.Value as the JSON value that it represents. */
export function readValue(reader: WireReader, end: number, depth = 0): Json {
  let value: Json | undefined;
  while (reader.pos < end) {
    const tag = reader.nextTag();
    if (tag === tags.value.string) value = readString(reader, end);
    else if (tag === tags.value.number) value = finite(reader.double());
    else if (tag === tags.value.struct) value = readStruct(reader, readEnd(reader, end), depth);
    else if (tag === tags.value.list) value = readList(reader, readEnd(reader, end), depth);
    else if (tag === tags.value.bool) value = reader.bool();
    else if (tag === tags.value.null) value = readNull(reader);
    else skipField(reader, tag);
  }
  checkEnd(reader, end);
  if (value === undefined) throw invalid('A google.protobuf.Value has no kind set.');
  return value;
}

/** Reads a google.protobuf.Struct. `__proto__` is a key like any other. */
export function readStruct(reader: WireReader, end: number, depth = 0): { [key: string]: Json } {
  checkDepth(depth);
  const struct: { [key: string]: Json } = {};
  while (reader.pos < end) {
    const tag = reader.nextTag();
    if (tag === tags.struct.entry) readEntry(reader, readEnd(reader, end), { struct, depth: depth + 1 });
    else skipField(reader, tag);
  }
  checkEnd(reader, end);
  return struct;
}

/** Reads a google.protobuf.ListValue. */
export function readList(reader: WireReader, end: number, depth = 0): Json[] {
  checkDepth(depth);
  const list: Json[] = [];
  while (reader.pos < end) {
    const tag = reader.nextTag();
    if (tag === tags.list.item) list.push(readValue(reader, readEnd(reader, end), depth + 1));
    else skipField(reader, tag);
  }
  checkEnd(reader, end);
  return list;
}

function readEntry(
  reader: WireReader,
  end: number,
  { struct, depth }: { struct: { [key: string]: Json }; depth: number },
): void {
  let key = '';
  let value: Json | undefined;
  while (reader.pos < end) {
    const tag = reader.nextTag();
    if (tag === tags.entry.key) key = readString(reader, end);
    else if (tag === tags.entry.value) value = readValue(reader, readEnd(reader, end), depth);
    else skipField(reader, tag);
  }
  checkEnd(reader, end);
  if (value === undefined) throw invalid('An entry of a google.protobuf.Struct has no value.');
  setMember(struct, key, value);
}

function readNull(reader: WireReader): null {
  if (reader.int32() !== 0) throw new MalformedMessageError('a google.protobuf.NullValue is not 0');
  return null;
}

function finite(number: number): number {
  if (Number.isFinite(number)) return number;
  throw invalid('A number in a google.protobuf.Value must be finite.');
}

/** Bounds the recursion. The exact depth is checked later from the root of the request, as for JSON. */
function checkDepth(depth: number): void {
  if (depth > jsonDepthMax) throw invalid(`The message is nested deeper than ${jsonDepthMax} levels.`);
}

function invalid(details: string): IngestError {
  return new IngestError('invalid_event_batch', details);
}
