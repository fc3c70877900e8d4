import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { IngestError } from '../../lib/errors.ts';
import { discardTimeoutMs, retryAfterSeconds } from '../../lib/limits.ts';
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
  // The parser may have refused the rest of the body meanwhile, and has answered for it.
  if (response.destroyed || response.headersSent) return;
  sendJson(response, error.status, error.toBody(), {
    ...headers,
    ...(error.status === 503 && { 'Retry-After': retryAfterSeconds }),
    ...(error.status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(!isWhole && request.httpVersionMajor === 1 && { Connection: 'close' }),
  });
}

/**
 * Answers with an error, in the same shape, where no response object is to be had; and closes when the client does, or
 * after a while: one that still writes would see a reset instead.
 */
export function endWithError(socket: Socket, error: IngestError, headers: Headers = {}): void {
  const text = JSON.stringify(error.toBody());
  const lines = Object.entries({
    ...headers,
    Connection: 'close',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${text}`);
  const late = setTimeout(() => socket.destroy(), discardTimeoutMs);
  socket.once('close', () => clearTimeout(late)).resume();
}
