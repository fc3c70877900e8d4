import { type ErrorId, errorTable, IngestError } from '../../../event/errors.ts';
import { errorDetailsCharsMax } from '../../../platform/limits.ts';

/** A part of the document, as plain JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** No operation returns these ids: they mean that there is no such operation. */
const idsOfNoOperation: readonly ErrorId[] = ['not_found', 'method_not_allowed'];

/** RPCs only: the JSON API accepts any Content-Type. */
const idsOfRpcs: readonly ErrorId[] = ['unsupported_media_type'];

const ids = Object.keys(errorTable) as ErrorId[];

/** The error responses of an operation on events: one for each status, with every id of that status. */
export function eventErrors(): Json {
  const own = ids.filter((id) => !idsOfNoOperation.includes(id) && !idsOfRpcs.includes(id));
  const byStatus = Map.groupBy(own, (id) => errorTable[id].status);
  const responses = [...byStatus].map(([status, possible]) => [
    status,
    errorResponse(possible, headersOf(status)),
  ]);
  return { ...Object.fromEntries(responses), ...noOperation };
}

/** The error responses of an operation that takes no input. */
export function probeErrors(): Json {
  return { 500: errorResponse(['internal_server_error']), ...noOperation };
}

/** The header that locates the events of a request. */
export const batchId: Json = {
  description:
    'Where the events are: `weir find` takes it. Absent when the request queued nothing: it had no events, or the queue ' +
    'recognised it as a retry.',
  schema: { type: 'string', examples: ['0199a0c0-1234-7abc-8def-0123456789ab:0-2'] },
};

/** The other 4xx: a response with its own status precedes the range (OpenAPI 3.1, §4.8.16). */
export const noOperation: Json = {
  '4XX': errorResponse(idsOfNoOperation, {
    Allow: { description: 'With 405: the methods that the path takes.', schema: { type: 'string' } },
  }),
};

/** A response with one of these errors. */
function errorResponse(possible: readonly ErrorId[], headers: Json = {}): Json {
  return {
    description: possible.map((id) => `\`${id}\`: ${errorTable[id].condition}`).join(' '),
    headers,
    content: {
      'application/json': {
        schema: errorSchema(possible),
        examples: Object.fromEntries(
          possible.map((id) => [id, { value: new IngestError(id, errorTable[id].condition).toBody() }]),
        ),
      },
    },
  };
}

/** The shape of docs/api.md §7, for some of the ids. */
function errorSchema(possible: readonly ErrorId[]): Json {
  const rows = possible.map((id) => errorTable[id]);
  const properties = {
    id: { enum: possible, description: 'Machine-readable code.' },
    title: { enum: rows.map(({ title }) => title), description: 'Short title.' },
    status: { enum: [...new Set(rows.map(({ status }) => status))], description: 'Equals the HTTP status.' },
    details: { type: 'string', maxLength: errorDetailsCharsMax, description: 'Human-readable explanation.' },
  };
  const error = { type: 'object', required: Object.keys(properties), properties };
  return { type: 'object', required: ['error'], properties: { error } };
}

/** The headers of an error's response, by its status. */
export function headersOf(status: number): Json {
  if (status === 401) return { 'WWW-Authenticate': { required: true, schema: { const: 'Bearer' } } };
  if (status === 402) {
    return {
      'Weir-Quota-Reset': {
        description: 'With `usage_limit_exceeded`: seconds until the count of the next month starts.',
        schema: { type: 'integer', minimum: 1 },
      },
    };
  }
  if (status !== 503) return {};
  return {
    'Retry-After': {
      description: 'Seconds to wait before a retry.',
      required: true,
      schema: { type: 'integer', minimum: 1 },
    },
  };
}
