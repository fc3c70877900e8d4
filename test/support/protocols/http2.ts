import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Pipeline } from '../pipeline.ts';

/** A response over HTTP/2 with its body as `text`, and its trailers. */
export interface Http2Answer {
  status: number;
  headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
}

/** An HTTP/2 connection. Disposing destroys it. */
export async function openSession(
  { url }: Pick<Pipeline, 'url'>,
  options: { ca?: string } = {},
): Promise<ClientHttp2Session & Disposable> {
  const session = connect(url, options);
  await once(session, 'connect');
  // Errors of a request are reported by its stream.
  session.on('error', () => {});
  return Object.assign(session, { [Symbol.dispose]: () => session.destroy() });
}

/**
 * Sends a request with its body in the given pieces, and reads the response.
 *
 * @throws the stream error after a reset: `code` is ERR_HTTP2_STREAM_ERROR, and the message contains the
 * error code.
 */
export async function exchange(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  pieces: readonly (string | Uint8Array)[] = [],
  /** `isLeftOpen`: do not end the request. */
  { isLeftOpen = false }: { isLeftOpen?: boolean } = {},
): Promise<Http2Answer> {
  const stream = session.request(headers);
  let status = 0;
  let answered: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  stream.on('response', (received) => {
    status = Number(received[':status']);
    answered = received;
  });
  stream.on('trailers', (received) => {
    trailers = received;
  });
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const piece of pieces) stream.write(piece);
  if (!isLeftOpen) stream.end();
  await once(stream, 'close');
  if (status === 0) throw stream.errored ?? new Error(`no response: the stream ended with ${stream.rstCode}`);
  const body = Buffer.concat(chunks);
  return { status, headers: answered, trailers, body, text: body.toString() };
}
