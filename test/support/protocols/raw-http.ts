import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import { type ErrorId, errorTable } from '../../../event/errors.ts';
import type { Tenant } from '../pipeline.ts';

/** A response as received. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  /** The parsed body, if there is one. */
  body: unknown;
}

/** Opens a connection for bytes that no client library would send. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await once(socket, 'connect');
  // Whoever reads it sees a reset; one that comes later must not end the run.
  return socket.on('error', () => {});
}

/** Writes bytes (a string: Latin-1) and reads the responses until the server closes the connection. */
export async function talk(url: string, bytes: string | Buffer, methods?: string[]): Promise<RawAnswer[]> {
  const socket = await openSocket(url);
  socket.write(Buffer.from(bytes as string, 'latin1'));
  const answers = parseAnswers(await buffer(socket), methods);
  socket.destroy();
  return answers;
}

/**
 * Parses the bytes of a server into responses.
 *
 * @param methods of the requests in order; the response to HEAD has no body.
 * @throws Error when the length of a response is unknown, or when bytes are left over.
 */
export function parseAnswers(bytes: Buffer, methods: string[] = []): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.toString('latin1', 0, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (headEnd === -1 || Number.isNaN(status)) throw new Error(`no answer: ${rest.toString('latin1')}`);
    const headers = new Headers(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
    const isBare = status < 200 || methods[answers.length] === 'HEAD';
    const length = isBare ? 0 : Number(headers.get('content-length') ?? Number.NaN);
    const body = rest.subarray(headEnd + 4, headEnd + 4 + length);
    if (body.length !== length)
      throw new Error(`the length of a response differs from Content-Length: ${rest}`);
    answers.push({ status, headers, body: isBare ? undefined : JSON.parse(body.toString()) });
    rest = rest.subarray(headEnd + 4 + length);
  }
  return answers;
}

export const requestLine = 'POST /v1/ingest-events HTTP/1.1\r\n';

/** The Authorization header with a tenant's key, as a line. */
export function authorizationOf({ apiKey }: Pick<Tenant, 'apiKey'>): string {
  return `Authorization: Bearer ${apiKey}\r\n`;
}

/** A valid request with this body and these additional header lines. */
export function rawPost(tenant: Pick<Tenant, 'apiKey'>, body: string, headers = ''): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${requestLine}Host: x\r\n${authorizationOf(tenant)}${headers}${length}\r\n${body}`;
}

/** Expects an error response in the shape of docs/api.md §7. */
export function expectRawError(answer: RawAnswer | undefined, id: ErrorId): void {
  const { status, title } = errorTable[id];
  const error = { id, title, status, details: expect.stringMatching(/./) };
  expect({ status: answer?.status, body: answer?.body }).toEqual({ status, body: { error } });
  expect(answer?.headers.get('content-type')).toBe('application/json');
}
