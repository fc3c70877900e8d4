import type { IncomingMessage } from 'node:http';
import { IngestError } from '../../../event/errors.ts';

/** The protocol of a call, and whether its message is protobuf or protobuf's JSON. */
export interface RpcEncoding {
  readonly protocol: 'connect' | 'grpc' | 'grpc-web';
  readonly isJson: boolean;
}

const contentTypes = /^application\/(?:(grpc|grpc-web)(?:\+(proto|json))?|(proto|json))[ \t]*(?:;.*)?$/i;

/** @returns undefined for a Content-Type that belongs to no protocol. */
export function parseRpcEncoding(contentType: string): RpcEncoding | undefined {
  const match = contentTypes.exec(contentType);
  if (match === null) return undefined;
  const [, envelope, envelopedCodec, bareCodec] = match;
  const protocol = (envelope?.toLowerCase() ?? 'connect') as RpcEncoding['protocol'];
  return { protocol, isJson: (envelopedCodec ?? bareCodec)?.toLowerCase() === 'json' };
}

/** The encoding of a call. @throws IngestError `unsupported_media_type` for an unknown Content-Type. */
export function requireRpcEncoding({ headers }: IncomingMessage): RpcEncoding {
  const encoding = parseRpcEncoding(headers['content-type'] ?? '');
  if (encoding !== undefined) return encoding;
  throw new IngestError(
    'unsupported_media_type',
    'The Content-Type is not one of Connect, gRPC or gRPC-Web.',
  );
}

/** The Content-Type of the response to such a call. */
export function contentTypeOf({ protocol, isJson }: RpcEncoding): string {
  const codec = isJson ? 'json' : 'proto';
  return protocol === 'connect' ? `application/${codec}` : `application/${protocol}+${codec}`;
}
