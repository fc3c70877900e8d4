import { Readable } from 'node:stream';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { createApiKey } from '../../lib/accounts/api-key.ts';
import { bodyBytesMax } from '../../lib/limits.ts';

/** Creates a request that must be rejected. */
export type HostileRequest = () => Dispatcher.RequestOptions;

const chunkBytes = 64 * 1024;

const request = { method: 'POST', path: '/v1/ingest-events' } as const;

/**
 * Requests with expensive bodies and a valid key, without which a body is not read: compression bombs of 64 MiB in every
 * encoding, bodies over 4 MiB with and without a declared length, and 4 MiB of nested brackets.
 */
export function hostileBodies(apiKey: string): HostileRequest[] {
  const authorization = `Bearer ${apiKey}`;
  const zeros = Buffer.alloc(64 * 1024 ** 2);
  const bombs = { gzip: gzipSync(zeros), br: brotliCompressSync(zeros), zstd: zstdCompressSync(zeros) };
  const large = Buffer.alloc(bodyBytesMax + 1024 ** 2, ' ');
  const half = bodyBytesMax / 2 - 8;
  const deep = Buffer.from(`{"events":[${'['.repeat(half)}${']'.repeat(half)}]}`);
  return [
    ...Object.entries(bombs).map(([encoding, body]) => () => ({
      ...request,
      headers: { authorization, 'content-encoding': encoding },
      body,
    })),
    () => ({ ...request, headers: { authorization }, body: large }),
    () => ({ ...request, headers: { authorization }, body: inChunks(large) }),
    () => ({ ...request, headers: { authorization }, body: deep }),
  ];
}

/** Requests with a new invalid key each. Every other key is well-formed, and so requires a look-up in Postgres. */
export function badKeys(): HostileRequest[] {
  const withKey = (apiKey: string) => ({
    ...request,
    headers: { authorization: `Bearer ${apiKey}` },
    body: '{"events":[]}',
  });
  return [() => withKey(createApiKey()), () => withKey(crypto.randomUUID())];
}

/** A body from a stream is sent without a declared length. */
function inChunks(bytes: Buffer): Readable {
  const count = Math.ceil(bytes.length / chunkBytes);
  return Readable.from(
    Array.from({ length: count }, (_, i) => bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes)),
  );
}
