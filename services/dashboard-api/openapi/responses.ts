/** A part of the document, as plain JSON. */
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

/** The error responses of a procedure. */
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
