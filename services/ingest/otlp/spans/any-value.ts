import { exactInteger } from '../../../../event/json/exact-json.ts';
import { type Json, setMember } from '../../../../event/json/json-value.ts';
import { checkEnd, readEnd, skipField, type WireReader } from '../../read/protobuf-wire.ts';
import { attributeDepthMax } from '../limits.ts';
import { UnstorableError } from './span.ts';
import { tags } from './tags.ts';

/** Reads an opentelemetry.proto.common.v1.AnyValue, up to `end`, as the JSON value that it represents. */
export function readAnyValue(reader: WireReader, end: number, depth = 0): Json {
  let value: Json = null;
  while (reader.pos < end) {
    const tag = reader.nextTag();
    switch (tag) {
      case tags.anyValue.stringValue:
        value = readText(reader, end);
        break;
      case tags.anyValue.boolValue:
        value = reader.bool();
        break;
      case tags.anyValue.intValue:
        value = exactInteger(BigInt(reader.int64()));
        break;
      case tags.anyValue.doubleValue:
        value = doubleToJson(reader.double());
        break;
      case tags.anyValue.arrayValue:
        value = readArray(reader, readEnd(reader, end), depth + 1);
        break;
      case tags.anyValue.kvlistValue:
        value = readObject(reader, readEnd(reader, end), depth + 1);
        break;
      case tags.anyValue.bytesValue:
        value = readBytes(reader, end).toString('base64');
        break;
      default:
        skipField(reader, tag);
    }
  }
  checkEnd(reader, end);
  return value;
}

/** Numbers that are not finite become the strings that protobuf's JSON uses for them. */
function doubleToJson(number: number): Json {
  return Number.isFinite(number) ? number : String(number);
}

/** Reads text. Invalid UTF-8 becomes U+FFFD: exporters truncate attributes in the middle of a character. */
export function readText(reader: WireReader, messageEnd: number): string {
  const end = readEnd(reader, messageEnd);
  // The default is UTF-8: to find the encoding by its name takes as long as to decode a short text.
  const text = reader.source.toString(undefined, reader.pos, end);
  reader.pos = end;
  return text;
}

export function readBytes(reader: WireReader, messageEnd: number): Buffer {
  const end = readEnd(reader, messageEnd);
  const bytes = reader.source.subarray(reader.pos, end);
  reader.pos = end;
  return bytes;
}

/** Bounds the recursion. @throws UnstorableError when a value is nested too deep. */
export function refuseDeeper(depth: number): void {
  if (depth <= attributeDepthMax) return;
  throw new UnstorableError(`An attribute is nested deeper than ${attributeDepthMax} levels.`);
}

function readArray(reader: WireReader, end: number, depth: number): Json[] {
  refuseDeeper(depth);
  const values: Json[] = [];
  while (reader.pos < end) {
    const tag = reader.nextTag();
    if (tag === tags.arrayValue.values) values.push(readAnyValue(reader, readEnd(reader, end), depth));
    else skipField(reader, tag);
  }
  checkEnd(reader, end);
  return values;
}

function readObject(reader: WireReader, end: number, depth: number): { [key: string]: Json } {
  refuseDeeper(depth);
  const object: { [key: string]: Json } = {};
  while (reader.pos < end) {
    const tag = reader.nextTag();
    if (tag === tags.keyValueList.values) readMember(reader, readEnd(reader, end), object, depth);
    else skipField(reader, tag);
  }
  checkEnd(reader, end);
  return object;
}

function readMember(reader: WireReader, end: number, object: { [key: string]: Json }, depth: number): void {
  let key = '';
  let value: Json = null;
  while (reader.pos < end) {
    const tag = reader.nextTag();
    if (tag === tags.keyValue.key) key = readText(reader, end);
    else if (tag === tags.keyValue.value) value = readAnyValue(reader, readEnd(reader, end), depth);
    else skipField(reader, tag);
  }
  checkEnd(reader, end);
  setMember(object, key, value);
}
