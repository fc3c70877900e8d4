import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { IngestError } from '../../../event/errors.ts';
import { unreadBodyTimeoutMs } from '../../../platform/http/limits.ts';

type Headers = Record<string, string | number>;

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Headers = {},
): void {
  sendJsonText(response, status, JSON.stringify(body), headers);
}

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
 * Sends an error in the shape of docs/api.md §7 on a socket that has no response object, and ends our side.
 * The socket is closed when the client closes its side, or after a while: closing it at once would reset the
 * connection, and a client that is still writing would not read the response.
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
  const late = setTimeout(() => socket.destroy(), unreadBodyTimeoutMs);
  socket.once('close', () => clearTimeout(late)).resume();
}
