import type { IncomingMessage, ServerResponse } from 'node:http';
import { cors as connectCors } from '@connectrpc/connect';

/** How long a browser may cache the response to a preflight request. Chromium's maximum. */
const corsMaxAgeSeconds = 7_200;

const allowedHeaders = ['Authorization', 'X-API-Key', 'Content-Encoding', ...connectCors.allowedHeaders].join(
  ', ',
);
const exposedHeaders = [
  'Retry-After',
  'Weir-Batch-Id',
  'Weir-Quota-Limit',
  'Weir-Quota-Reset',
  'Weir-Quota-Used',
  'Weir-Spans-Filtered',
  'Weir-Spans-Stored',
  ...connectCors.exposedHeaders,
].join(', ');

/**
 * Sets the CORS headers of a response.
 * @returns whether the request was a preflight request; its response is sent.
 */
export type Cors = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * CORS for the origins that the operator allows; `*` allows all. Allowing an origin grants no access by
 * itself: ingest uses no cookies, so a page needs an API key.
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
