import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import { errorFromJsonBytes } from '@connectrpc/connect/protocol-connect';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { trailerFlag, trailerParse } from '@connectrpc/connect/protocol-grpc-web';
import { ErrorDetailSchema } from '../../../gen/weir/ingest/v1/error_detail_pb.ts';
import { exchange, type Http2Answer } from './http2.ts';

/** RPC calls with bytes chosen by the test, for calls that no client library would send. */
export const protocols = ['connect', 'grpc', 'grpc-web'] as const;
export type Protocol = (typeof protocols)[number];

export const ingestPath = '/weir.ingest.v1.IngestService/IngestEvents';

/** The outcome of a call: its code, and the id and status of its ErrorDetail when it failed. */
export interface CallOutcome {
  code: keyof typeof Code | 'Ok';
  id: string | undefined;
  status: number | undefined;
  details: string;
  http: Http2Answer;
}

export interface CallOptions {
  headers?: OutgoingHttpHeaders;
  path?: string;
  /** Sends the bytes unchanged, without an envelope. */
  isRaw?: boolean;
}

export function envelope(message: Uint8Array, { flags = 0, length = message.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/** Calls an RPC with these bytes as its message, which is protobuf unless the headers say otherwise. */
export async function call(
  session: ClientHttp2Session,
  protocol: Protocol,
  message: Uint8Array,
  { headers = {}, path = ingestPath, isRaw = false }: CallOptions = {},
): Promise<CallOutcome> {
  const contentType = protocol === 'connect' ? 'application/proto' : `application/${protocol}+proto`;
  const request = { ':method': 'POST', ':path': path, 'content-type': contentType, ...headers };
  const bytes = protocol === 'connect' || isRaw ? message : envelope(message);
  const http = await exchange(session, request, [bytes]);
  const error = readError(protocol, http);
  const [detail] = error?.findDetails(ErrorDetailSchema) ?? [];
  return {
    code: error === undefined ? 'Ok' : (Code[error.code] as keyof typeof Code),
    id: detail?.id,
    status: detail?.status,
    details: detail?.details ?? '',
    http,
  };
}

function readError(protocol: Protocol, http: Http2Answer): ConnectError | undefined {
  if (protocol === 'connect') {
    if (http.status === 200) return undefined;
    return errorFromJsonBytes(http.body, undefined, new ConnectError(`HTTP ${http.status}: ${http.text}`));
  }
  if (http.status !== 200) throw new Error(`HTTP ${http.status}: ${http.text}`);
  const trailer =
    protocol === 'grpc' ? toHeaders({ ...http.headers, ...http.trailers }) : webTrailer(http.body);
  if (trailer.get('grpc-status') === null) throw new Error(`a response without a status: ${http.text}`);
  return findTrailerError(trailer);
}

function webTrailer(body: Buffer): Headers {
  for (let at = 0; at + 5 <= body.length; at += 5 + body.readUInt32BE(at + 1)) {
    if (body.readUInt8(at) & trailerFlag) return trailerParse(body.subarray(at + 5));
  }
  throw new Error('a response without trailers');
}

function toHeaders(headers: Record<string, string | string[] | undefined>): Headers {
  return new Headers(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(':') || value === undefined ? [] : [[name, String(value)]],
    ) as [string, string][],
  );
}
