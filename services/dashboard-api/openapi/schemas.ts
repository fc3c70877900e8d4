import { z } from 'zod';
import type { Json } from './responses.ts';

const localRef = '#/$defs/';

/** The JSON Schema of a parser, with its named parts in `named` and references to them. */
export function takeNamed(parser: z.ZodType, io: 'input' | 'output', named: Map<string, Json>): Json {
  const { $schema: _, $defs = {}, ...schema } = z.toJSONSchema(parser, { io, unrepresentable: 'any' });
  for (const [name, part] of Object.entries($defs)) {
    const { id: _id, ...rest } = part as Record<string, unknown>;
    named.set(name, relocate(rest) as Json);
  }
  const name = parser.meta()?.id;
  if (name === undefined || schema.$ref !== undefined) return relocate(schema) as Json;
  const { id: _id, ...rest } = schema as Record<string, unknown>;
  named.set(name, relocate(rest) as Json);
  return { $ref: `#/components/schemas/${name}` };
}

/** As {@link takeNamed}, for an object whose members are needed. */
export function schemaOf(parser: z.ZodType, io: 'input' | 'output', named: Map<string, Json>): Json {
  const schema = takeNamed(parser, io, named);
  return { ...schema, properties: (schema.properties as Json | undefined) ?? {} };
}

/** Points references to the components of the document. Later versions may add members, so objects are open. */
function relocate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocate);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, part]): [string, unknown][] => {
    if (name === 'additionalProperties' && part === false) return [];
    if (name === '$ref' && typeof part === 'string')
      return [[name, part.replace(localRef, '#/components/schemas/')]];
    return [[name, relocate(part)]];
  });
  return Object.fromEntries(members);
}
