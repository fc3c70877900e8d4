import type { IncomingMessage } from 'node:http';
import { IngestError } from '../../../event/errors.ts';
import { envelopeBytes } from '../../../platform/limits.ts';
import { bodyTooLarge } from '../body/body.ts';
import type { DecodeBody } from '../body/decode.ts';
import type { RequestDecoder } from '../ingest-batch.ts';
import type { RpcEncoding } from './encoding.ts';

/** The decoder of a request's encoding. */
export type DecoderOf<T> = (encoding: {
  readonly protocol: 'http' | RpcEncoding['protocol'];
  readonly isJson: boolean;
}) => RequestDecoder<T>;

/** The decoders of the four encodings: bare or enveloped, protobuf or JSON. */
export function createDecoders<T>(
  readers: { readonly protobuf: RequestDecoder<T>['read']; readonly json: RequestDecoder<T>['read'] },
  limits: DecoderLimits,
): DecoderOf<T> {
  const decodersOf = (read: RequestDecoder<T>['read']) => ({
    bare: createBareDecoder(read, limits),
    enveloped: createEnvelopedDecoder(read, limits),
  });
  const decoders = { protobuf: decodersOf(readers.protobuf), json: decodersOf(readers.json) };
  return ({ protocol, isJson }) => {
    const isBare = protocol === 'http' || protocol === 'connect';
    return decoders[isJson ? 'json' : 'protobuf'][isBare ? 'bare' : 'enveloped'];
  };
}

interface DecoderLimits {
  bodyBytesMax: number;
  decodeBody: DecodeBody;
}

/** Decodes a body that is the message, with or without Content-Encoding: unary calls of Connect. */
export function createBareDecoder<T>(
  read: RequestDecoder<T>['read'],
  { bodyBytesMax, decodeBody }: DecoderLimits,
): RequestDecoder<T> {
  return {
    bodyBytesMax,
    overheadBytes: 0,
    decode: (request, sent, limits) => decodeBody(sent, request.headers['content-encoding'], limits),
    read,
  };
}

/** Decodes a body that is one message in an envelope, and compressed in it: gRPC and gRPC-Web. */
function createEnvelopedDecoder<T>(
  read: RequestDecoder<T>['read'],
  { bodyBytesMax, decodeBody }: DecoderLimits,
): RequestDecoder<T> {
  return {
    bodyBytesMax,
    overheadBytes: envelopeBytes,
    decode: async (request, sent, limits) => {
      const { message, encoding } = openEnvelope(request, sent, limits.bytesMax);
      return decodeBody(message, encoding, limits);
    },
    read,
  };
}

/** The framing of one message in gRPC and gRPC-Web: a byte of flags, four of length. */
function openEnvelope(
  request: IncomingMessage,
  sent: Buffer,
  bytesMax: number,
): { message: Buffer; encoding: string | undefined } {
  if (sent.length < envelopeBytes) throw invalid('The call has no message.');
  const flags = sent.readUInt8(0);
  const length = sent.readUInt32BE(1);
  if (flags > 1) throw invalid('The envelope of the message has unknown flags.');
  if (length > bytesMax) throw bodyTooLarge(bytesMax);
  const message = sent.subarray(envelopeBytes);
  if (message.length < length) throw invalid('The message is shorter than its envelope says.');
  if (message.length > length) throw invalid('The call has more than one message.');
  if (flags === 0) return { message, encoding: undefined };
  const encoding = request.headers['grpc-encoding'];
  if (encoding === undefined || encoding === 'identity') {
    throw invalid('The message is compressed, but grpc-encoding does not name the compression.');
  }
  return { message, encoding: String(encoding) };
}

function invalid(details: string): IngestError {
  return new IngestError('invalid_request_body', details);
}
