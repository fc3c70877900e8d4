import { parseEmbeddedJson } from '../../../../event/json/embedded-json.ts';
import { type Json, type JsonObject, setMember } from '../../../../event/json/json-value.ts';
import { type AttributeReader, unquoted } from './attribute-reader.ts';

/**
 * Attributes with these prefixes are the application's dimensions: they go to `additionalProperties`, without
 * the prefix.
 */
const dimensionPrefixes = [
  'ai.telemetry.metadata.',
  'traceloop.association.properties.',
  'langfuse.trace.metadata.',
  'langfuse.observation.metadata.',
  'langsmith.metadata.',
  'mastra.metadata.',
  'lmnr.association.properties.metadata.',
] as const;

/** Attributes that hold dimensions as one JSON object, or as a list of tags. */
const dimensionObjects = ['metadata'] as const;
const tagLists = [
  'tag.tags',
  'langfuse.trace.tags',
  'langsmith.trace.tags',
  'langsmith.span.tags',
  'mastra.tags',
  'lmnr.association.properties.tags',
  'tags',
] as const;

/**
 * Takes the application's dimensions (docs/api.md §2.2): the metadata of any convention, and its tags joined
 * as one text.
 */
export function takeDimensions(reader: AttributeReader): JsonObject {
  const dimensions: JsonObject = {};
  takeObjects(reader, dimensions);
  takeTags(reader, dimensions);
  for (const name of reader.untaken()) {
    const prefix = dimensionPrefixes.find((candidate) => name.startsWith(candidate) && name !== candidate);
    const value = prefix === undefined ? undefined : asDimension(reader.get(name));
    if (prefix === undefined || value === undefined) continue;
    reader.take({ value, names: [name] });
    const key = name.slice(prefix.length);
    // The tags of the trace, read above, precede those of the span.
    if (!Object.hasOwn(dimensions, key)) setMember(dimensions, key, value);
  }
  return dimensions;
}

function takeObjects(reader: AttributeReader, dimensions: JsonObject): void {
  for (const name of dimensionObjects) {
    const json = reader.object(name);
    if (json === undefined) continue;
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
    const tags = json.filter((tag) => tag !== '');
    if (tags.length > 0) setMember(dimensions, 'tags', tags.join(', '));
    reader.take({ value: json, names: [name] });
  }
}

/** A string or a number; a list of texts as one text. */
function asDimension(value: Json | undefined): string | number | undefined {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return value;
  const json = typeof value === 'string' ? (parseEmbeddedJson(value) ?? unquoted(value)) : value;
  if (typeof json === 'string') return json;
  return Array.isArray(json) && json.length > 0 && json.every((item) => typeof item === 'string')
    ? json.join(', ')
    : undefined;
}
