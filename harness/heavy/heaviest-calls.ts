import type { AnyTRPCProcedure } from '@trpc/server';
import { z } from 'zod';
import { appRouter } from '../../services/dashboard-api/router.ts';
import type { ProcedureMeta } from '../../services/dashboard-api/trpc/trpc.ts';
import type { HeavySpace } from './heavy-space.ts';

/** A request for a path of the dashboard API, in the address. */
export interface HeavyCall {
  readonly name: string;
  readonly path: string;
}

interface Schema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
  maxItems?: number;
  maxLength?: number;
  maximum?: number;
  format?: string;
  pattern?: string;
}

/** Every query of the router with the largest inputs that its schema allows, one for each value of an enumeration; and the downloads. */
export function heaviestCalls(space: HeavySpace): HeavyCall[] {
  const queries = Object.entries<unknown>(appRouter._def.procedures).flatMap(([path, procedure]) => {
    // tRPC types its definitions for inference only. Every procedure has these members at run time (procedure-table.test.ts).
    const { type, meta, inputs } = (procedure as AnyTRPCProcedure)._def as unknown as {
      type: string;
      meta: ProcedureMeta;
      inputs: z.ZodType[];
    };
    if (type !== 'query' || meta.access === 'operator') return [];
    const properties = Object.assign({}, ...inputs.map((input) => toSchema(input).properties ?? {}));
    return largestInputs(properties, space).map((input) => ({
      name: `${path} ${JSON.stringify(input).slice(0, 120)}`,
      path: `/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`,
    }));
  });
  const files = ['ndjson', 'csv', 'parquet', 'events'].map(
    (format) => `/export/${space.spaceId}?format=${format}`,
  );
  const others = [...files, `/raw/${space.spaceId}/${space.eventId}`, '/openapi.json'];
  return [...queries, ...others.map((path) => ({ name: path, path }))];
}

function toSchema(input: z.ZodType): Schema {
  return z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema;
}

/** Members with a meaning that the schema does not tell. Those that would filter everything out are left out. */
const known: Record<string, (space: HeavySpace) => unknown> = {
  spaceId: ({ spaceId }) => spaceId,
  traceId: ({ traceId }) => traceId,
  threadId: ({ threadId }) => threadId,
  userId: ({ userId }) => userId,
  id: ({ eventId }) => eventId,
  from: ({ fromMs }) => fromMs,
  to: ({ toMs }) => toMs + 3_600_000,
  timeZone: () => 'Australia/Lord_Howe',
  payload: () => 'nowhere in any text',
  model: () => 'model-1',
  field: () => 'userId',
};

/** Of a filter only what costs most: comparisons of costs, and texts that match much. */
const filters = new Set([
  ...['type', 'state', 'name', 'source', 'agentId', 'agentGroupId', 'errorCode', 'attributes', 'not', 'text'],
  ...['minDurationMs', 'maxDurationMs', 'comparisons', 'cursor', 'before', 'search', 'key', 'prefix'],
]);

function largestInputs(properties: Record<string, Schema>, space: HeavySpace): Record<string, unknown>[] {
  const members = Object.entries(properties).filter(([name]) => !filters.has(name));
  const isListed = 'comparisons' in properties;
  const base: Record<string, unknown> = {};
  for (const [name, schema] of members) base[name] = known[name]?.(space) ?? largest(schema, space);
  // A filter by the trace and thread finds the same events faster than one by time.
  if (isListed) for (const name of ['traceId', 'threadId', 'userId']) delete base[name];
  const variants = members.flatMap(([name, schema]) =>
    (schema.enum ?? []).map((value) => ({ ...base, [name]: value })),
  );
  const costly = { ...base, comparisons: [{ measure: 'cost', operator: '>=', value: 0 }] };
  return [...(variants.length > 0 ? variants : [base]), ...(isListed ? [costly] : [])];
}

function largest(schema: Schema, space: HeavySpace): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = schema.anyOf ?? [];
  if (first !== undefined) return largest(first, space);
  if (schema.type === 'object') return largestInputs(schema.properties ?? {}, space)[0];
  if (schema.type === 'array')
    return Array.from({ length: schema.maxItems ?? 10 }, () => largest(schema.items ?? {}, space));
  if (schema.type === 'integer' || schema.type === 'number') return schema.maximum ?? 1e6;
  if (schema.type === 'boolean') return true;
  if (schema.format === 'date') return new Date(space.toMs).toISOString().slice(0, 10);
  if (schema.format === 'uuid' || schema.pattern?.includes('{12}')) return space.eventId;
  return 'x'.repeat(Math.min(schema.maxLength ?? 100, 1_000));
}
