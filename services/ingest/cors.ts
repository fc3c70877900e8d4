import type { IncomingMessage, ServerResponse } from 'node:http';
import { cors as connectCors } from '@connectrpc/connect';
import { corsMaxAgeSeconds } from '../../lib/limits.ts';

const allowedHeaders = ['Authorization', ...connectCors.allowedHeaders].join(', ');
const exposedHeaders = [
  'Retry-After',
  'Weir-Batch-Id',
  'Weir-Quota-Limit',
  'Weir-Quota-Used',
  ...connectCors.exposedHeaders,
].join(', ');

/**
 * Lets pages of other origins read the answer to a request.
 *
 * @returns whether the request was the browser's own question, and is answered.
 */
export type Cors = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Cross-origin requests, from the origins that the operator names; `*` is every one. A page sends its API key itself,
 * the browser adds nothing: so an origin gets no more than what the key gives it.
 */
export function createCors(allowedOrigins: readonly string[]): Cors {
  const isAllowed = (origin: string) => allowedOrigins.includes('*') || allowedOrigins.includes(origin);
  return (request, response) => {
    const { origin } = request.headers;
    if (allowedOrigins.length === 0) return false;
    response.setHeader('Vary', 'Origin');
    if (origin === undefined || !isAllowed(origin)) return false;
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', exposedHeaders);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
      return false;
    }
    response.writeHead(204, {
      'Access-Control-Allow-Methods': 'GET, POST',
      'Access-Control-Allow-Headers': allowedHeaders,
      'Access-Control-Max-Age': corsMaxAgeSeconds,
    });
    response.end();
    return true;
  };
}
