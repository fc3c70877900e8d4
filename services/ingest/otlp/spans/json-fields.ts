import { digitsOf, exactInteger } from '../../../../event/json/exact-json.ts';
import { type Json, setMember } from '../../../../event/json/json-value.ts';
import { attributesMax } from '../limits.ts';
import { refuseDeeper } from './any-value.ts';
import { type Attributes, lazyAttributes } from './attributes.ts';
import { UnstorableError } from './span.ts';

/**
 * Reads the field types of OTLP/JSON: ids in hexadecimal, 64-bit integers as text or as numbers, enums as
 * numbers or as names. A field that is null or missing is unset. Unknown fields are ignored.
 */

export type JsonObject = { readonly [key: string]: Json };

const none: JsonObject = {};

export function asObject(json: Json | undefined, name: string): JsonObject {
  if (json === undefined || json === null) return none;
  if (typeof json === 'object' && !Array.isArray(json) && digitsOf(json) === undefined) return json;
  throw malformed(name, 'an object');
}

export function asList(json: Json | undefined, name: string): readonly Json[] {
  if (json === undefined || json === null) return [];
  if (Array.isArray(json)) return json;
  throw malformed(name, 'an array');
}

export function asText(json: Json | undefined, name: string): string {
  if (json === undefined || json === null) return '';
  if (typeof json === 'string') return json;
  throw malformed(name, 'a string');
}

/** An id in hexadecimal, as in OTLP/JSON, or in base64, as in protobuf's JSON. The two differ in length. */
export function asId(json: Json | undefined, name: string): string {
  const text = asText(json, name);
  return base64Id.test(text) ? Buffer.from(text, 'base64').toString('hex') : text.toLowerCase();
}

const base64Id = /^(?:[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{11}=)$/;

export function asInteger(json: Json | undefined, name: string): bigint {
  if (json === undefined || json === null || json === '') return 0n;
  const digits = digitsOf(json) ?? json;
  const isInteger =
    typeof digits === 'number' ? Number.isInteger(digits) : /^-?\d{1,20}$/.test(String(digits));
  const integer = isInteger ? BigInt(digits as number | string) : undefined;
  if (integer !== undefined && integer >= int64Min && integer <= uint64Max) return integer;
  throw malformed(name, 'a 64-bit integer');
}

/** The range covers both int64 and uint64. */
const int64Min = -(2n ** 63n);
const uint64Max = 2n ** 64n - 1n;

/** @param names the enum's names, indexed by number. */
export function asEnum(json: Json | undefined, name: string, names: readonly string[]): number {
  const number = typeof json === 'string' ? names.indexOf(json) : -1;
  return number === -1 ? Number(asInteger(json, name)) : number;
}

/** A list of KeyValue. Of duplicate names the last one wins. */
export function asAttributes(json: Json | undefined): Attributes {
  const values = new Map<string, Json | undefined>();
  const list = asList(json, 'attributes');
  if (list.length > attributesMax) {
    throw new UnstorableError(`A span has more than ${attributesMax} attributes.`);
  }
  for (const element of list) {
    const { key, value } = asObject(element, 'attribute');
    values.set(asText(key, 'key'), value ?? null);
  }
  return lazyAttributes(values, (value) => anyValueToJson(value));
}

/** An AnyValue of OTLP/JSON as the JSON value that it represents. */
export function anyValueToJson(json: Json | undefined, depth = 0): Json {
  const value = asObject(json, 'value');
  if (value.stringValue !== undefined) return asText(value.stringValue, 'stringValue');
  if (value.boolValue !== undefined) return value.boolValue === true;
  if (value.intValue !== undefined) return exactInteger(asInteger(value.intValue, 'intValue'));
  if (value.doubleValue !== undefined) return asDouble(value.doubleValue);
  if (value.arrayValue !== undefined) {
    refuseDeeper(depth + 1);
    const { values } = asObject(value.arrayValue, 'arrayValue');
    return asList(values, 'values').map((element) => anyValueToJson(element, depth + 1));
  }
  if (value.kvlistValue !== undefined) {
    refuseDeeper(depth + 1);
    const object: { [key: string]: Json } = {};
    for (const element of asList(asObject(value.kvlistValue, 'kvlistValue').values, 'values')) {
      const member = asObject(element, 'value');
      setMember(object, asText(member.key, 'key'), anyValueToJson(member.value, depth + 1));
    }
    return object;
  }
  return value.bytesValue === undefined ? null : asText(value.bytesValue, 'bytesValue');
}

/** Numbers that are not finite are sent as strings and stay strings: JSON has no such numbers. */
function asDouble(json: Json): Json {
  if (typeof json === 'number' || digitsOf(json) !== undefined) return json;
  const isName = json === 'NaN' || json === 'Infinity' || json === '-Infinity';
  if (isName) return json;
  const isNumeral = typeof json === 'string' && json !== '' && Number.isFinite(Number(json));
  if (isNumeral) return Number(json);
  throw malformed('doubleValue', 'a number');
}

/** A value of a wrong type makes the span unstorable that has it, and no other. */
export function malformed(name: string, type: string): UnstorableError {
  return new UnstorableError(`The request is not OTLP/JSON: ${name} must be ${type}.`);
}
