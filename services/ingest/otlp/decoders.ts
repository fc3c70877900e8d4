import { otlpBodyBytesMax } from '../../../lib/limits.ts';
import type { DecodeBody } from '../body/decode.ts';
import type { RequestDecoder } from '../ingest-batch.ts';
import { createBareDecoder, createEnvelopedDecoder } from '../rpc/decoders.ts';
import type { RpcEncoding } from '../rpc/encoding.ts';
import type { SpanBatch } from './batch/span-batch.ts';
import type { SpanReaders } from './batch/span-readers.ts';
import type { HttpEncoding } from './respond/http-response.ts';

/** The decoder of each form that a request of spans may have. */
export interface SpanDecoders {
  http(encoding: HttpEncoding): RequestDecoder<SpanBatch>;
  rpc(encoding: RpcEncoding): RequestDecoder<SpanBatch>;
}

export function createSpanDecoders(readers: SpanReaders, decodeBody: DecodeBody): SpanDecoders {
  const limits = { bodyBytesMax: otlpBodyBytesMax, decodeBody };
  const bare = {
    protobuf: createBareDecoder(readers.otlp, limits),
    json: createBareDecoder(readers.otlpJson, limits),
  };
  const enveloped = {
    protobuf: createEnvelopedDecoder(readers.otlp, limits),
    json: createEnvelopedDecoder(readers.otlpJson, limits),
  };
  return {
    http: ({ isJson }) => (isJson ? bare.json : bare.protobuf),
    rpc: ({ protocol, isJson }) => (protocol === 'connect' ? bare : enveloped)[isJson ? 'json' : 'protobuf'],
  };
}
