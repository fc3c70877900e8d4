import { type ErrorId, errorTable, IngestError } from '../errors.ts';
import { errorDetailsCharsMax } from '../limits.ts';
import type { Json } from './document.ts';

/** No operation answers these: they tell that there is no such operation. */
const idsOfNoOperation: readonly ErrorId[] = ['not_found', 'method_not_allowed'];

const ids = Object.keys(errorTable) as ErrorId[];

/** What an operation on events can be refused with: a response for every status, that has every id of the status. */
export function refusals(): Json {
  const own = ids.filter((id) => !idsOfNoOperation.includes(id));
  const byStatus = Map.groupBy(own, (id) => errorTable[id].status);
  const responses = [...byStatus].map(([status, possible]) => [status, refusal(possible, headersOf(status))]);
  return { ...Object.fromEntries(responses), ...noOperation };
}

/** What an operation that refuses nothing can still be answered with. */
export function failures(): Json {
  return { 500: refusal(['internal_server_error']), ...noOperation };
}

/** Statuses of their own come before the range (OpenAPI 3.1, §4.8.16), so these are the other 4xx. */
const noOperation: Json = {
  '4XX': refusal(idsOfNoOperation, {
    Allow: { description: 'With 405: the methods that the path takes.', schema: { type: 'string' } },
  }),
};

/** A response that carries one of these errors. */
function refusal(possible: readonly ErrorId[], headers: Json = {}): Json {
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

/** The shape of contract §7, for some of the ids. */
function errorSchema(possible: readonly ErrorId[]): Json {
  const rows = possible.map((id) => errorTable[id]);
  const properties = {
    id: { enum: possible, description: 'Machine-readable code.' },
    title: { enum: rows.map(({ title }) => title), description: 'Short title.' },
    status: { enum: [...new Set(rows.map(({ status }) => status))], description: 'Equals the HTTP status.' },
    details: { type: 'string', maxLength: errorDetailsCharsMax, description: 'Explanation for people.' },
  };
  const error = { type: 'object', required: Object.keys(properties), properties };
  return { type: 'object', required: ['error'], properties: { error } };
}

function headersOf(status: number): Json {
  if (status === 401) return { 'WWW-Authenticate': { required: true, schema: { const: 'Bearer' } } };
  if (status !== 503) return {};
  return {
    'Retry-After': {
      description: 'Seconds to wait before a retry.',
      required: true,
      schema: { type: 'integer', minimum: 1 },
    },
  };
}
