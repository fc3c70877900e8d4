import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Pipeline } from '../pipeline.ts';

/** An answer that came over HTTP/2. `text` is its body, `trailers` what followed it. */
export interface Http2Answer {
  status: number;
  headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
}

/** A connection of HTTP/2. Disposing it cuts it off. */
export async function openSession(
  { url }: Pick<Pipeline, 'url'>,
  options: { ca?: string } = {},
): Promise<ClientHttp2Session & Disposable> {
  const session = connect(url, options);
  await once(session, 'connect');
  // What happens to a request is told by its stream.
  session.on('error', () => {});
  return Object.assign(session, { [Symbol.dispose]: () => session.destroy() });
}

/**
 * Sends a request, its body in the pieces that are given, and reads the answer.
 *
 * @throws what the stream was reset with: `code` is ERR_HTTP2_STREAM_ERROR, and the message names the code.
 */
export async function exchange(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  pieces: readonly (string | Uint8Array)[] = [],
  /** `isLeftOpen`: the client does not end its side. */
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
  if (status === 0) throw stream.errored ?? new Error(`no answer: the stream ended with ${stream.rstCode}`);
  const body = Buffer.concat(chunks);
  return { status, headers: answered, trailers, body, text: body.toString() };
}
