import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { ErrorDetailSchema } from '../gen/weir/ingest/v1/error_detail_pb.ts';
import { EventSchema } from '../gen/weir/ingest/v1/event_pb.ts';
import { IngestError } from './errors.ts';
import { eventSchemas, type JsonSchema } from './schema.ts';

/** The JSON Schema and the .proto must have the same fields. These tests name missing fields. */

const { llm, tool } = eventSchemas('weir');

/** The protobuf type of a field of the JSON Schema. */
function expectedKind(schema: JsonSchema): string {
  if (Array.isArray(schema.type)) return 'google.protobuf.Value';
  if (schema.enum !== undefined) return `enum ${(schema.enum as string[]).join(' | ')}`;
  if (schema.const !== undefined) return 'string';
  if (schema.type === 'number') return 'double';
  if (schema.type === 'array') return 'google.protobuf.ListValue';
  if (schema.type !== 'object') return String(schema.type);
  return schema.properties === undefined ? 'google.protobuf.Struct' : 'message';
}

function actualKind(field: DescField): string {
  if (field.fieldKind === 'scalar') return ScalarType[field.scalar].toLowerCase();
  if (field.fieldKind === 'enum') {
    const [, ...states] = field.enum.values.map(({ localName }) => localName.toLowerCase());
    return `enum ${states.join(' | ')}`;
  }
  if (field.fieldKind !== 'message') return field.fieldKind;
  return field.message.typeName.startsWith('google.protobuf.') ? field.message.typeName : 'message';
}

/** Compares the fields and their types, recursively. */
function compare(schema: JsonSchema, desc: DescMessage, hidden: readonly string[]): void {
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => !hidden.includes(name));
  const fields = desc.fields.filter((field) => field.name !== 'extra' && field.oneof === undefined);
  expect(
    Object.fromEntries(fields.map((field) => [field.jsonName, actualKind(field)])),
    desc.typeName,
  ).toEqual(Object.fromEntries(properties.map(([name, property]) => [name, expectedKind(property)])));
  for (const field of fields) {
    const property = schema.properties?.[field.jsonName];
    if (actualKind(field) === 'message' && field.fieldKind === 'message' && property !== undefined) {
      compare(property, field.message, []);
    }
  }
}

const payloads = new Map(
  EventSchema.fields
    .filter((field) => field.oneof?.name === 'payload')
    .map((field) => [field.jsonName, field.message as DescMessage]),
);

test('the .proto and the JSON Schema have the same fields, of the same types', () => {
  // `type` and `properties` are one in protobuf: the oneof of payloads.
  compare(llm, EventSchema, ['type', 'properties']);
  expect([...payloads.keys()]).toEqual(Object.keys(eventSchemas('weir')));
  compare(llm.properties?.properties?.properties?.llm as JsonSchema, payloads.get('llm') as DescMessage, []);
});

test('a tool payload is any object: the .proto names the fields that the dashboard shows, and has a field for others', () => {
  expect(tool.properties?.properties?.properties?.tool).toEqual({ type: 'object' });
  expect(payloads.get('tool')?.fields.map((field) => field.name)).toEqual([
    'name',
    'input',
    'output',
    'extra',
  ]);
});

test('every message of a payload has a field for other fields', () => {
  const check = (desc: DescMessage) => {
    if (desc.typeName.startsWith('google.protobuf.')) return;
    expect(
      desc.fields.map((field) => field.name),
      desc.typeName,
    ).toContain('extra');
    for (const field of desc.fields) if (field.message !== undefined) check(field.message);
  };
  for (const desc of payloads.values()) check(desc);
});

test("the error detail has the fields of the JSON API's error", () => {
  expect(ErrorDetailSchema.fields.map((field) => field.jsonName)).toEqual(
    Object.keys(new IngestError('unauthorized', '').toBody().error),
  );
});
