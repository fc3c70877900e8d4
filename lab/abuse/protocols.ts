import { once } from 'node:events';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { Readable } from 'node:stream';
import { Pool } from 'undici';
import { envelopeBytes } from '../../platform/limits.ts';
import type { PayloadForm } from './payloads.ts';

/** A request whose bytes are sent unchanged. */
export interface AbusiveRequest {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** Sent over HTTP/1.1 in chunks, without a Content-Length. Requests over HTTP/2 never declare one here. */
  isChunked?: true;
}

/**
 * Sends a request and reads its response.
 * @returns the HTTP status; 0 without a response. An error of gRPC, which HTTP answers with 200, is 503 when
 * the client may send again, otherwise 400.
 */
export type Send = (request: AbusiveRequest) => Promise<number>;

/** A protocol of ingest. */
export interface Protocol {
  name: string;
  form: PayloadForm;
  httpVersion: '1.1' | '2';
  path: string;
  contentType: string;
  /** Whether a message has gRPC's envelope. */
  isEnveloped: boolean;
}

const rpcPath = '/weir.ingest.v1.IngestService/IngestEvents';
const jsonApi = {
  form: 'json',
  path: '/v1/ingest-events',
  contentType: 'application/json',
  isEnveloped: false,
} as const;
const rpc = (contentType: string, form: PayloadForm) => ({
  form,
  path: rpcPath,
  contentType,
  isEnveloped: contentType.includes('grpc'),
});

export const jsonOverHttp1: Protocol = { name: 'JSON over HTTP/1.1', httpVersion: '1.1', ...jsonApi };

export const protocols: readonly Protocol[] = [
  jsonOverHttp1,
  { name: 'JSON over HTTP/2', httpVersion: '2', ...jsonApi },
  { name: 'Connect', httpVersion: '1.1', ...rpc('application/proto', 'protobuf') },
  { name: 'Connect in JSON', httpVersion: '2', ...rpc('application/json', 'protobufJson') },
  { name: 'gRPC', httpVersion: '2', ...rpc('application/grpc+proto', 'protobuf') },
  { name: 'gRPC in JSON', httpVersion: '2', ...rpc('application/grpc+json', 'protobufJson') },
  { name: 'gRPC-Web', httpVersion: '1.1', ...rpc('application/grpc-web+proto', 'protobuf') },
  { name: 'gRPC-Web in JSON', httpVersion: '1.1', ...rpc('application/grpc-web+json', 'protobufJson') },
];

export function inEnvelope(message: Buffer, flags: number, length = message.length): Buffer {
  const head = Buffer.alloc(envelopeBytes);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/**
 * Clients of both versions of HTTP. A connection that ingest closes is opened again.
 *
 * @param connections the maximum for HTTP/1.1; HTTP/2 has one.
 */
export function openClients(
  url: string,
  connections = 16,
): Record<Protocol['httpVersion'], Send> & AsyncDisposable {
  const pool = new Pool(url, { connections, pipelining: 1 });
  let session: ClientHttp2Session | undefined;
  const openSession = () => {
    session = connect(url);
    session.on('error', () => {});
    return session;
  };
  return {
    '1.1': async ({ body, isChunked, ...request }) => {
      try {
        const sent = isChunked === true ? inChunks(body) : body;
        const response = await pool.request({ method: 'POST', ...request, body: sent });
        const text = await response.body.text();
        return statusOf(response.statusCode, /grpc-status: *(\d+)/i.exec(text)?.[1]);
      } catch {
        return 0;
      }
    },
    '2': ({ path, headers, body }) => {
      const open = session === undefined || session.closed || session.destroyed ? openSession() : session;
      return sendOnStream(open, { ':method': 'POST', ':path': path, ...headers }, body);
    },
    async [Symbol.asyncDispose]() {
      session?.destroy();
      await pool.destroy();
    },
  };
}

const chunkBytes = 64 * 1024;

function inChunks(bytes: Buffer): Readable {
  const count = Math.ceil(bytes.length / chunkBytes);
  return Readable.from(
    Array.from({ length: count }, (_, i) => bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes)),
  );
}

async function sendOnStream(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body: Buffer,
): Promise<number> {
  try {
    const stream = session.request(headers);
    let status = 0;
    const note = (headers: IncomingHttpHeaders) => {
      status = statusOf(Number(headers[':status'] ?? status), headers['grpc-status']);
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('error', () => {});
    const closed = once(stream, 'close');
    stream.end(body);
    stream.resume();
    await closed;
    return status;
  } catch {
    return 0;
  }
}

const grpcUnavailable = '14';

function statusOf(status: number, grpcStatus: string | string[] = '0'): number {
  if (grpcStatus === '0') return status;
  return grpcStatus === grpcUnavailable ? 503 : 400;
}
