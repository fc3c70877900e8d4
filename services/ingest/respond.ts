import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { IngestError } from '../../lib/errors.ts';
import { retryAfterSeconds } from '../../lib/limits.ts';
import { discardBody } from './body.ts';

type Headers = Record<string, string | number>;

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Headers = {},
): void {
  sendJsonText(response, status, JSON.stringify(body), headers);
}

/** Sends JSON that is text already. */
export function sendJsonText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Headers = {},
): void {
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

/**
 * Answers with an error in the shape of contract §7, after what is left of the request was read and thrown away:
 * a client that is still writing would see a reset instead.
 */
export async function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  error: IngestError,
  headers: Headers = {},
): Promise<void> {
  const isWhole = await discardBody(request);
  if (response.destroyed) return;
  sendJson(response, error.status, error.toBody(), {
    ...headers,
    ...(error.status === 503 && { 'Retry-After': retryAfterSeconds }),
    ...(error.status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(!isWhole && { Connection: 'close' }),
  });
}

/**
 * Answers what the HTTP parser refused, in the same shape, and closes: Node would answer bare. A socket that was only
 * slow or silent is closed without a word.
 */
export function refuseUnparsable(error: NodeJS.ErrnoException, socket: Socket): void {
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (isLate || error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = new IngestError('invalid_request_body', 'The request is not valid HTTP.').toBody();
  const text = JSON.stringify(body);
  socket.end(
    'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
