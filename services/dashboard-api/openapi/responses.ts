import { z } from 'zod';

export type Json = Readonly<Record<string, unknown>>;

const descriptions: Record<string, string> = {
  400: 'The input is not valid. The message names the field.',
  401: 'The read key is missing, unknown, expired or revoked.',
  403: 'The scope of the read key does not include this.',
  404: 'There is no such event, trace or space. The response is the same for a space of another key as for one that does not exist.',
  429: 'Too many calls of the key are waiting, or too many downloads or streams are open. Try again later.',
  '5XX': 'The service cannot answer now (503), the query took too long (504), or it failed (500).',
};

const failure: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'data'],
      properties: {
        message: { type: 'string' },
        code: { type: 'integer', description: 'The code of JSON-RPC.' },
        data: {
          type: 'object',
          required: ['code', 'httpStatus'],
          properties: {
            code: { type: 'string', examples: ['NOT_FOUND'] },
            httpStatus: { type: 'integer' },
            path: { type: 'string' },
          },
        },
      },
    },
  },
};

export function errorResponses(named: Map<string, Json>): Json {
  named.set('Failure', failure);
  return mapResponses({ 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } });
}

/** The error responses of a download: plain text. */
export function downloadErrors(): Json {
  return mapResponses({ 'text/plain': { schema: { type: 'string' } } });
}

function mapResponses(content: Json): Json {
  return Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [status, { description, content }]),
  );
}

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

/** Like {@link takeNamed}, for an object whose members are needed. */
export function schemaOf(parser: z.ZodType, io: 'input' | 'output', named: Map<string, Json>): Json {
  const schema = takeNamed(parser, io, named);
  return { ...schema, properties: (schema.properties as Json | undefined) ?? {} };
}

/** Points references to the document's components. Later versions may add members, so objects are open. */
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
