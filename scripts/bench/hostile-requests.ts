import { Readable } from 'node:stream';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { createApiKey } from '../../lib/access/api-key.ts';
import { bodyBytesMax } from '../../lib/limits.ts';

/** A request that must be refused, made when it is sent. */
export type HostileRequest = () => Dispatcher.RequestOptions;

const chunkBytes = 64 * 1024;

const request = { method: 'POST', path: '/v1/ingest-events' } as const;

/**
 * Bodies that cost more than they should, with a good key, for without one they are not read: bombs of every encoding
 * that become 64 MiB, bodies over 4 MiB with and without a declared length, brackets as deep as 4 MiB allow.
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

/** Every time another key: every other one is well-formed, and costs a question to Postgres. */
export function badKeys(): HostileRequest[] {
  const withKey = (apiKey: string) => ({
    ...request,
    headers: { authorization: `Bearer ${apiKey}` },
    body: '{"events":[]}',
  });
  return [() => withKey(createApiKey()), () => withKey(crypto.randomUUID())];
}

/** As a stream a body has no declared length. */
function inChunks(bytes: Buffer): Readable {
  const count = Math.ceil(bytes.length / chunkBytes);
  return Readable.from(
    Array.from({ length: count }, (_, i) => bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes)),
  );
}
