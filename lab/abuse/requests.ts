import { randomUUID } from 'node:crypto';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { bodyBytesMax } from '../../platform/limits.ts';
import { createApiKey } from '../../store/accounts/api-key.ts';
import { payloads } from './payloads.ts';
import { type AbusiveRequest, inEnvelope, type Protocol, protocols } from './protocols.ts';

/** One kind of abuse: a name, and a function that creates its request. */
export interface Abuse {
  name: string;
  protocol: Protocol;
  make(apiKey: string): AbusiveRequest;
}

/** The fastest level of each: the sender shares the machine. */
const compressors = {
  gzip: (bytes: Buffer) => gzipSync(bytes, { level: 1 }),
  deflate: (bytes: Buffer) => deflateSync(bytes, { level: 1 }),
  br: (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: (bytes: Buffer) => zstdCompressSync(bytes),
};

type Encoding = keyof typeof compressors;

const encodings = Object.keys(compressors) as Encoding[];

const bombBytes = 64 * 1024 ** 2;

/**
 * Every payload through every protocol, plain and in one of the encodings; decompression bombs in each
 * encoding; and requests with malformed framing.
 */
export const abuses: readonly Abuse[] = protocols.flatMap((protocol) => [
  ...Object.entries(payloads[protocol.form]).flatMap(([name, payload], index) => {
    const encoding = encodings[index % encodings.length] ?? 'gzip';
    return [
      { name, protocol, make: (apiKey: string) => plain(protocol, apiKey, payload()) },
      {
        name: `${name} in ${encoding}`,
        protocol,
        make: (apiKey: string) => compressed(protocol, apiKey, { encoding, bytes: payload() }),
      },
    ];
  }),
  ...encodings.map((encoding) => ({
    name: `a bomb in ${encoding}`,
    protocol,
    make: (apiKey: string) => compressed(protocol, apiKey, { encoding, bytes: Buffer.alloc(bombBytes) }),
  })),
  ...malformedRequests(protocol),
]);

function malformedRequests(protocol: Protocol): Abuse[] {
  const message = Buffer.alloc(1024 ** 2, ' ');
  const request = (apiKey: string, body: Buffer, headers: Record<string, string> = {}): AbusiveRequest => {
    const { path, contentType } = protocol;
    const authorization = `Bearer ${apiKey}`;
    return { path, headers: { authorization, 'content-type': contentType, ...headers }, body };
  };
  const makes: Record<string, Abuse['make']> = {
    'too many bytes without a length': (apiKey) => ({
      ...request(apiKey, Buffer.alloc(bodyBytesMax + 1024 ** 2, ' ')),
      isChunked: true,
    }),
    'an unknown key': () => request(createApiKey(), message),
    'a malformed key': () => request(randomUUID(), message),
    'an unknown encoding': (apiKey) =>
      request(apiKey, inEnvelope(message, 1), { 'content-encoding': 'x', 'grpc-encoding': 'x' }),
    'damaged compression': (apiKey) =>
      request(apiKey, inEnvelope(message, 1), { 'content-encoding': 'zstd', 'grpc-encoding': 'zstd' }),
    'a length of 4 GiB': (apiKey) => request(apiKey, inEnvelope(message, 0, 2 ** 32 - 1)),
    'two messages': (apiKey) =>
      request(apiKey, Buffer.concat([inEnvelope(message, 0), inEnvelope(message, 0)])),
    'another path': (apiKey) => ({ ...request(apiKey, message), path: '/nothing' }),
  };
  return Object.entries(makes).map(([name, make]) => ({ name, protocol, make }));
}

/** A request with this message in its body, unchanged. */
export function plain(
  { path, contentType, isEnveloped }: Pick<Protocol, 'path' | 'contentType' | 'isEnveloped'>,
  apiKey: string,
  bytes: Buffer,
): AbusiveRequest {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': contentType };
  return { path, headers, body: isEnveloped ? inEnvelope(bytes, 0) : bytes };
}

function compressed(
  { path, contentType, isEnveloped }: Protocol,
  apiKey: string,
  { encoding, bytes }: { encoding: Encoding; bytes: Buffer },
): AbusiveRequest {
  const body = compressors[encoding](bytes);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': contentType };
  return isEnveloped
    ? { path, headers: { ...headers, 'grpc-encoding': encoding }, body: inEnvelope(body, 1) }
    : { path, headers: { ...headers, 'content-encoding': encoding }, body };
}
