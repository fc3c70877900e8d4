import type { Json } from '../../read/protobuf-struct.ts';
import { setMember } from '../spans/attributes.ts';
import { parseEmbeddedJson } from '../spans/exact-json.ts';
import type { AttributeReader } from './attribute-reader.ts';
import type { JsonObject } from './json-object.ts';
import { isJsonObject } from './messages/messages.ts';
import { dimensionObjects, dimensionPrefixes, tagLists } from './table.ts';

/** Takes the application's dimensions (docs/api.md §2.2): the metadata of any convention, and its tags joined as one text. */
export function takeDimensions(reader: AttributeReader): JsonObject {
  const dimensions: JsonObject = {};
  takeObjects(reader, dimensions);
  takeTags(reader, dimensions);
  for (const name of reader.untaken()) {
    const prefix = dimensionPrefixes.find((candidate) => name.startsWith(candidate) && name !== candidate);
    const value = prefix === undefined ? undefined : asDimension(reader.get(name));
    if (prefix === undefined || value === undefined) continue;
    reader.take({ value, names: [name] });
    setMember(dimensions, name.slice(prefix.length), value);
  }
  return dimensions;
}

function takeObjects(reader: AttributeReader, dimensions: JsonObject): void {
  for (const name of dimensionObjects) {
    const value = reader.get(name);
    const json = typeof value === 'string' ? parseEmbeddedJson(value) : value;
    if (!isJsonObject(json)) continue;
    const members = Object.entries(json).map(([key, member]) => [key, asDimension(member)] as const);
    for (const [key, member] of members) if (member !== undefined) setMember(dimensions, key, member);
    // An object with other members is also kept as it is.
    if (members.every(([, member]) => member !== undefined)) reader.take({ value: json, names: [name] });
  }
}

function takeTags(reader: AttributeReader, dimensions: JsonObject): void {
  for (const name of tagLists) {
    const value = reader.get(name);
    const json = typeof value === 'string' ? (parseEmbeddedJson(value) ?? value.split(/,\s*/)) : value;
    if (!Array.isArray(json) || json.length === 0 || !json.every((tag) => typeof tag === 'string')) continue;
    setMember(dimensions, 'tags', json.join(', '));
    reader.take({ value: json, names: [name] });
  }
}

/** A string or a number. Some SDKs send each value as JSON text: `"pro"` with its quotes. */
function asDimension(value: Json | undefined): string | number | undefined {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  return value.startsWith('"') && value.endsWith('"') ? unquoted(value) : value;
}

function unquoted(text: string): string {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'string' ? json : text;
  } catch {
    return text;
  }
}
