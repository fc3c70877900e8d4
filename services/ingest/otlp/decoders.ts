import { otlpBodyBytesMax } from '../../../platform/limits.ts';
import type { DecodeBody } from '../body/decode.ts';
import type { RequestDecoder } from '../ingest-batch.ts';
import { createBareDecoder, createEnvelopedDecoder } from '../rpc/decoders.ts';
import type { RpcEncoding } from '../rpc/encoding.ts';
import type { SpanBatch } from './batch/span-batch.ts';
import type { SpanReaders } from './batch/span-readers.ts';
import type { HttpEncoding } from './respond/http-response.ts';

type Read = SpanReaders[keyof SpanReaders];

/** The readers of one kind of request. */
interface Pair {
  readonly protobuf: Read;
  readonly json: Read;
}

/** The decoder of each form that a request of spans may have. */
export interface SpanDecoders {
  http(encoding: HttpEncoding): RequestDecoder<SpanBatch>;
  rpc(encoding: RpcEncoding): RequestDecoder<SpanBatch>;
}

export function createSpanDecoders({ protobuf, json }: Pair, decodeBody: DecodeBody): SpanDecoders {
  const limits = { bodyBytesMax: otlpBodyBytesMax, decodeBody };
  const bare = {
    protobuf: createBareDecoder(protobuf, limits),
    json: createBareDecoder(json, limits),
  };
  const enveloped = {
    protobuf: createEnvelopedDecoder(protobuf, limits),
    json: createEnvelopedDecoder(json, limits),
  };
  return {
    http: ({ isJson }) => (isJson ? bare.json : bare.protobuf),
    rpc: ({ protocol, isJson }) => (protocol === 'connect' ? bare : enveloped)[isJson ? 'json' : 'protobuf'],
  };
}
