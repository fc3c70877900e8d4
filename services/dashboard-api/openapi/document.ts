import type { AnyTRPCProcedure } from '@trpc/server';
import { z } from 'zod';
import { roleOfScope } from '../../../store/accounts/key-scope.ts';
import { hasRole, roles } from '../../../store/accounts/role.ts';
import { appRouter } from '../router.ts';
import type { Access, ProcedureMeta } from '../trpc/trpc.ts';
import { downloadPaths } from './downloads.ts';
import { errorResponses, type Json, schemaOf, takeNamed } from './responses.ts';
import { summaries } from './summaries.ts';

export const openApiPath = '/openapi.json';

interface ReadProcedure {
  path: string;
  type: 'query' | 'mutation' | 'subscription';
  access: Access;
  isStatistics: boolean;
  isAnnotation: boolean;
  inputs: readonly z.ZodType[];
  output: z.ZodType;
}

/**
 * OpenAPI 3.1 of what keys may call: the queries, the live stream, the call that adds notes, and the
 * downloads, from the schemas that validate inputs and outputs. Each query is a GET with its input in the
 * address, and a POST with its input in the body, which proxies do not log.
 */
export function describeReads(): Json {
  const named = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  for (const procedure of listReads()) paths[`/trpc/${procedure.path}`] = describe(procedure, named);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir dashboard API: reads',
      version: 'v1',
      description:
        'The queries that the pages of the dashboard use, for programs with a read key. The key belongs to one space, so `spaceId` can be ' +
        'left out. Times are milliseconds since 1970 unless a name or a format says otherwise. Later versions may add fields to responses.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that returned this document.' }],
    security: [{ readKey: [] }],
    paths: { ...paths, ...downloadPaths(named) },
    components: {
      securitySchemes: {
        readKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A read key, `weir_read_…`, or one that adds notes, `weir_note_…`. It belongs to one space.',
        },
      },
      schemas: Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

/** Procedures for read keys: not those that need a session or an owner. */
function listReads(): ReadProcedure[] {
  return Object.entries<unknown>(appRouter._def.procedures)
    .map(([path, procedure]) => {
      // tRPC types its definitions for inference only. Every procedure has these members
      // (procedure-table.test.ts).
      const { type, meta, inputs, output } = (procedure as AnyTRPCProcedure)._def as unknown as {
        type: ReadProcedure['type'];
        meta: ProcedureMeta;
        inputs: z.ZodType[];
        output: z.ZodType;
      };
      const { access, isStatistics = false, isAnnotation = false } = meta;
      return { path, type, access, isStatistics, isAnnotation, inputs, output };
    })
    .filter(({ type, access, isAnnotation }) =>
      type === 'mutation' ? isAnnotation : access === 'everybody' || isForKeys(access),
    )
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function isForKeys(access: Access): boolean {
  const least = roles.find((role) => role === access);
  return least !== undefined && Object.values(roleOfScope).some((role) => hasRole(role, least));
}

function describe(procedure: ReadProcedure, named: Map<string, Json>): Json {
  const { path, type, inputs } = procedure;
  const input = inputOf(inputs, named);
  const shared = {
    summary: summaries[path] ?? path,
    description: accessText(procedure),
    tags: [path.split('.')[0] ?? path],
    ...(procedure.access === 'everybody' && { security: [] }),
    responses: { 200: responseOf(procedure, named), ...errorResponses(named) },
  };
  const isRequired = Array.isArray(input?.required) && input.required.length > 0;
  const parameters =
    input === undefined
      ? []
      : [
          {
            name: 'input',
            in: 'query',
            required: isRequired,
            content: { 'application/json': { schema: input } },
          },
        ];
  const get = { operationId: path.replaceAll('.', '_'), ...shared, parameters };
  if (type === 'subscription') return { get };
  const requestBody = { required: isRequired, content: { 'application/json': { schema: input } } };
  const post = {
    operationId: `${get.operationId}_post`,
    ...shared,
    ...(input !== undefined && { requestBody }),
  };
  return type === 'mutation' ? { post } : { get, post };
}

function accessText({ access, isStatistics, isAnnotation }: ReadProcedure): string {
  if (isAnnotation) return 'For keys with the scope `annotation`.';
  if (access === 'everybody') return 'Needs no key.';
  if (isStatistics) return 'For read keys of every scope.';
  return access === 'viewer'
    ? 'For read keys with the scope `events` or `administration`.'
    : 'For read keys with the scope `administration`.';
}

/** One object with the members of all inputs of a procedure. */
function inputOf(inputs: readonly z.ZodType[], named: Map<string, Json>): Json | undefined {
  if (inputs.length === 0) return undefined;
  const parts = inputs.map((input) => schemaOf(input, 'input', named));
  const required = parts.flatMap((part) => (Array.isArray(part.required) ? part.required : []));
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    ...(required.length > 0 && { required }),
  };
}

function responseOf({ type, output }: ReadProcedure, named: Map<string, Json>): Json {
  const messages = output.meta()?.messages;
  if (type === 'subscription') {
    const schema = messages instanceof z.ZodType ? takeNamed(messages, 'output', named) : {};
    return {
      description:
        'Server-sent events. The data of each event is a message as in the schema; its id resumes the stream with `lastEventId`.',
      content: { 'text/event-stream': { schema } },
    };
  }
  const data = takeNamed(output, 'output', named);
  const result = { type: 'object', required: ['data'], properties: { data } };
  return {
    description: 'The result.',
    content: {
      'application/json': { schema: { type: 'object', required: ['result'], properties: { result } } },
    },
  };
}
