import type { AnyTRPCProcedure } from '@trpc/server';
import { z } from 'zod';
import { appRouter } from '../../../services/dashboard-api/router.ts';
import type { Access, ProcedureMeta } from '../../../services/dashboard-api/trpc/trpc.ts';

/** A procedure as the router has it at run time. */
export interface Procedure {
  path: string;
  type: 'query' | 'mutation' | 'subscription';
  /** Undefined when it was not created with a builder of trpc.ts. */
  access: Access | undefined;
  /** Whether its changes need a session that authenticated a short time ago. */
  isConfirmed?: boolean;
  /** Whether it also works in a space that is marked as deleted. */
  isOfDeleted?: boolean;
  /** Whether read keys with the scope `statistics` may call it. */
  isStatistics?: boolean;
  /** Whether keys with the scope `annotation` may call it. */
  isAnnotation?: boolean;
  /** The JSON Schemas of its inputs. */
  inputs: readonly JsonSchema[];
  /** The JSON Schema of its output. Undefined when it has none, which no procedure may. */
  output?: JsonSchema | undefined;
}

/** All procedures of the router, by full path. */
export const procedures: readonly Procedure[] = Object.entries<unknown>(appRouter._def.procedures).map(
  ([path, procedure]) => {
    const { type, meta, inputs, output } = (procedure as AnyTRPCProcedure)._def as unknown as {
      type: Procedure['type'];
      meta?: Partial<ProcedureMeta>;
      inputs: z.ZodType[];
      output?: z.ZodType;
    };
    return {
      path,
      type,
      access: meta?.access,
      isConfirmed: meta?.isConfirmed === true,
      isOfDeleted: meta?.isOfDeleted === true,
      isStatistics: meta?.isStatistics === true,
      isAnnotation: meta?.isAnnotation === true,
      inputs: inputs.map((parser) => toJsonSchema(parser, 'input')),
      output: output && toJsonSchema(output, 'output'),
    };
  },
);

export interface JsonSchema {
  /** The name from the schema. */
  id?: string;
  $ref?: string;
  $defs?: Record<string, JsonSchema> | undefined;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  minItems?: number;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  format?: string;
  pattern?: string;
  /** The schema of a subscription’s messages. */
  messages?: JsonSchema;
}

export function toJsonSchema(parser: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const sent = parser.meta()?.messages;
  if (sent instanceof z.ZodType) return { messages: toJsonSchema(sent, io) };
  const schema = z.toJSONSchema(parser, { io, unrepresentable: 'any' }) as JsonSchema;
  // A named schema is a reference to itself.
  const name = schema.$ref?.split('/').at(-1) ?? '';
  return schema.properties === undefined && name in (schema.$defs ?? {})
    ? { ...schema.$defs?.[name], $defs: schema.$defs, id: name }
    : schema;
}

/** The names of a procedure's input members. */
export const memberNamesOf = ({ inputs }: Procedure): readonly string[] => [
  ...new Set(inputs.flatMap(({ properties = {} }) => Object.keys(properties))),
];

/** Values for a generated input. */
export interface Ingredients {
  spaceId?: string | undefined;
  /** Used for all other ids. */
  id: string;
  email: string;
}

/** Values of members whose schema is not specific enough. */
const known: Record<string, (ingredients: Ingredients) => unknown> = {
  spaceId: ({ spaceId }) => spaceId,
  email: ({ email }) => email,
  token: () => 'A'.repeat(43),
  // Later than `from`, which gets the minimum.
  to: () => 2,
  // Prices are decimals.
  input: () => '1',
  output: () => '0.5',
};

/** An input that passes a procedure's type checks: its required members, and the space. */
export function sampleInput({ inputs }: Procedure, ingredients: Ingredients): Record<string, unknown> {
  const members = inputs.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties)
      .filter(([name]) => required.includes(name) || name === 'spaceId')
      .map(([name, schema]) => [name, known[name]?.(ingredients) ?? sample(schema, ingredients)] as const),
  );
  const input = Object.fromEntries(members);
  return ingredients.spaceId === undefined ? { ...input, spaceId: undefined } : input;
}

function sample(schema: JsonSchema, ingredients: Ingredients): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum.at(-1);
  if (schema.anyOf !== undefined) return schema.anyOf[0] && sample(schema.anyOf[0], ingredients);
  switch (schema.type) {
    case 'object':
      return sampleInput(
        { path: '', type: 'query', access: undefined, inputs: [schema] },
        { ...ingredients, spaceId: '' },
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}, ingredients));
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    default:
      return schema.format === 'uuid' || schema.pattern?.includes('{12}')
        ? ingredients.id
        : 'x'.repeat(Math.max(schema.minLength ?? 1, 1));
  }
}

/** The outcome of a call. The status is that of the error, even if it was sent within a stream. */
export interface Outcome {
  status: number;
  body: string;
}

/**
 * How long to wait for the first message of a subscription; without an error by then it counts as accepted.
 */
const firstMessageMs = 300;

/** Calls a procedure over HTTP as its type asks. */
export async function callProcedure(
  url: string,
  { path, type }: Pick<Procedure, 'path' | 'type'>,
  input: unknown,
  headers: Record<string, string> = {},
): Promise<Outcome> {
  const json = JSON.stringify(input);
  const target = `${url}/trpc/${path}`;
  const query = `${target}?input=${encodeURIComponent(json ?? '')}`;
  if (type === 'subscription') return callSubscription(query, headers);
  const response =
    type === 'query'
      ? await fetch(query, { headers })
      : await fetch(target, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          ...(json !== undefined && { body: json }),
        });
  return { status: response.status, body: await response.text() };
}

async function callSubscription(target: string, headers: Record<string, string>): Promise<Outcome> {
  const abort = new AbortController();
  const response = await fetch(target, {
    headers: { ...headers, accept: 'text/event-stream' },
    signal: abort.signal,
  });
  let body = '';
  const late = setTimeout(() => abort.abort(), firstMessageMs);
  try {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      body += decoder.decode(chunk, { stream: true });
      if (body.includes('"httpStatus"')) break;
    }
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  } finally {
    clearTimeout(late);
    abort.abort();
  }
  const inside = /"httpStatus":(\d{3})/.exec(body)?.[1];
  return { status: inside === undefined ? response.status : Number(inside), body };
}
