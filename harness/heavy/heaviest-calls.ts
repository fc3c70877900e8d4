import type { AnyTRPCProcedure } from '@trpc/server';
import { z } from 'zod';
import { dayMs } from '../../platform/time.ts';
import { mcpPath } from '../../services/dashboard-api/mcp/mcp-endpoint.ts';
import { tools } from '../../services/dashboard-api/mcp/mcp-server.ts';
import { appRouter } from '../../services/dashboard-api/router.ts';
import type { ProcedureMeta } from '../../services/dashboard-api/trpc/trpc.ts';
import type { HeavySpace } from './heavy-space.ts';

/** A request for a path of the dashboard API. */
export interface HeavyCall {
  readonly name: string;
  readonly path: string;
  /** JSON, which is posted. */
  readonly body?: string;
}

interface Schema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  maxItems?: number;
  maxLength?: number;
  maximum?: number;
  format?: string;
  pattern?: string;
}

/**
 * Every query of the router with the largest inputs that its schema allows, one for each value of each
 * enumeration; and the downloads.
 */
export function heaviestCalls(space: HeavySpace): HeavyCall[] {
  const queries = inputsOf('query', space).filter(({ access }) => access !== 'operator');
  const files = ['ndjson', 'csv', 'parquet', 'events'].map(
    (format) => `/export/${space.spaceId}?format=${format}`,
  );
  const others = [
    ...files,
    `/raw/${space.spaceId}/${space.eventId}`,
    `/raw/${space.spaceId}/${space.valuesEventId}`,
    `/media/${space.spaceId}/${space.mediaId}`,
    '/openapi.json',
  ];
  return [...queries.map(toQuery), ...others.map((path) => ({ name: path, path }))];
}

/** Every query of operators. */
export function heaviestOfOperators(space: HeavySpace): HeavyCall[] {
  return inputsOf('query', space)
    .filter(({ access }) => access === 'operator')
    .map(toQuery);
}

/** Mutations that would end the session, or remove the data of the space. */
const ending: readonly string[] = [
  ...['auth.signOut', 'sessions.revokeOthers', 'spaces.delete', 'spaces.setRetention', 'erasures.request'],
];

/** Every mutation of the router with its largest inputs. Many refuse them, but read them first. */
export function heaviestMutations(space: HeavySpace): HeavyCall[] {
  return inputsOf('mutation', space)
    .filter(({ path }) => !ending.includes(path))
    .map(({ path, input }) => ({
      name: nameOf(path, input),
      path: `/trpc/${path}`,
      body: JSON.stringify(input),
    }));
}

/** Every tool of the MCP door with its largest inputs. They need a read key. */
export function heaviestTools(space: HeavySpace): HeavyCall[] {
  return tools.flatMap(({ name, input: schema }) =>
    largestInputs(toSchema(schema), space).map((input) => ({
      name: nameOf(`mcp ${name}`, input),
      path: mcpPath,
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name, arguments: input },
      }),
    })),
  );
}

/** The procedures of a kind, each with its largest inputs. */
function inputsOf(kind: 'query' | 'mutation', space: HeavySpace) {
  return Object.entries<unknown>(appRouter._def.procedures).flatMap(([path, procedure]) => {
    // tRPC types its definitions for inference only. Every procedure has these members at run time
    // (procedure-table.test.ts).
    const { type, meta, inputs } = (procedure as AnyTRPCProcedure)._def as unknown as {
      type: string;
      meta: ProcedureMeta;
      inputs: z.ZodType[];
    };
    if (type !== kind) return [];
    const schemas = inputs.map(toSchema);
    const whole = {
      properties: Object.assign({}, ...schemas.map(({ properties }) => properties)),
      required: schemas.flatMap(({ required = [] }) => required),
    };
    return largestInputs(whole, space).map((input) => ({ path, input, access: meta.access }));
  });
}

function toQuery({ path, input }: { path: string; input: object }): HeavyCall {
  return {
    name: nameOf(path, input),
    path: `/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`,
  };
}

function nameOf(path: string, input: object): string {
  return `${path} ${JSON.stringify(input).slice(0, 120)}`;
}

function toSchema(input: z.ZodType): Schema {
  return z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema;
}

/**
 * Members with a meaning that the schema does not tell. Those that would filter everything out are left out.
 */
const known: Record<string, (space: HeavySpace) => unknown> = {
  spaceId: ({ spaceId }) => spaceId,
  traceId: ({ traceId }) => traceId,
  threadId: ({ threadId }) => threadId,
  userId: ({ userId }) => userId,
  a: ({ valuesEventId }) => valuesEventId,
  b: ({ eventId }) => eventId,
  from: ({ fromMs }) => fromMs,
  to: ({ toMs }) => toMs + 3_600_000,
  timeZone: () => 'Australia/Lord_Howe',
  payload: () => 'nowhere in any text',
  model: () => 'model-1',
  fields: () => ['model', 'tool', 'state', 'userId', 'agentId', 'threadId', 'attribute', 'attr.plan'],
  offset: () => 0,
  // The most windows of a week, and the longest of those.
  windowMinutes: () => 360,
  comparison: () => 'above',
  email: () => 'somebody@weir.example',
  address: () => 'somebody@weir.example',
  input: () => '2.50',
  output: () => '10',
  cacheRead: () => '0.25',
  cacheWrite: () => '3',
  rates: () => ({}),
};

/**
 * The values of enumerations that cost most, where that is not the first: those of the others are asked with
 * them.
 */
const costliest: Record<string, unknown> = { groupBy: 'model' };

/** Of a filter only what costs most: comparisons of costs, and texts that match much. */
const filters = new Set([
  ...['type', 'state', 'name', 'source', 'agentId', 'agentGroupId', 'errorCode', 'attributes', 'not', 'text'],
  ...['minDurationMs', 'maxDurationMs', 'comparisons', 'cursor', 'before', 'search', 'key', 'prefix'],
  ...['id', 'targetIds', 'attributeKey', 'attributeValue', 'attribute'],
]);

function largestInputs(
  { properties = {}, required = [] }: Schema,
  space: HeavySpace,
): Record<string, unknown>[] {
  const members = Object.entries(properties).filter(
    ([name]) => !filters.has(name) || required.includes(name),
  );
  const isListed = 'comparisons' in properties;
  const base: Record<string, unknown> = {};
  for (const [name, schema] of members) {
    const value = costliest[name] ?? known[name]?.(space);
    // Members of a space have UUIDs, end users any text.
    base[name] =
      value === undefined || (isUuid(schema) && value === space.userId) ? largest(schema, space) : value;
  }
  // A filter by the trace and thread finds the same events faster than one by time, and charts have one
  // dimension at most.
  if (isListed || 'groupBy' in properties)
    for (const name of ['traceId', 'threadId', 'userId']) delete base[name];
  const variants = members.flatMap(([name, schema]) => {
    const values = name === 'id' ? [space.eventId, space.valuesEventId] : (enumOf(schema) ?? []);
    const others = name in known ? [] : values.filter((value) => value !== base[name]);
    return others.map((value) => ({ ...base, [name]: value }));
  });
  const costly = { ...base, comparisons: [{ measure: 'cost', operator: '>=', value: 0 }] };
  return [base, ...variants, ...(isListed ? [costly] : [])];
}

function largest(schema: Schema, space: HeavySpace): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = schema.anyOf ?? [];
  if (first !== undefined) return largest(first, space);
  if (schema.type === 'object') return largestInputs(schema, space)[0];
  if (schema.type === 'array')
    return Array.from({ length: schema.maxItems ?? 10 }, () => largest(schema.items ?? {}, space));
  if (schema.type === 'integer' || schema.type === 'number') return schema.maximum ?? 1e6;
  if (schema.type === 'boolean') return true;
  if (schema.format === 'date') return new Date(space.toMs).toISOString().slice(0, 10);
  if (schema.format === 'date-time') return new Date(space.toMs + dayMs).toISOString();
  if (isUuid(schema)) return space.eventId;
  return 'x'.repeat(Math.min(schema.maxLength ?? 100, 1_000));
}

/** The values of an enumeration, or of one beside other texts. */
function enumOf({ enum: values, anyOf = [] }: Schema): unknown[] | undefined {
  return values ?? anyOf.find((one) => one.enum !== undefined)?.enum;
}

function isUuid({ format, pattern }: Schema): boolean {
  return format === 'uuid' || pattern?.includes('{12}') === true;
}
