import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Projection } from '../../lib/event/projection.ts';
import { ownSegmentBytesMin } from '../../lib/limits.ts';
import type { Access } from './access.ts';

/** A validated batch on its way into the queue. */
export interface AcceptedBatch extends Projection {
  readonly spaceId: string;
  readonly apiKeyId: string;
  readonly receivedAtMs: number;
  /** The request's body as it was sent, decoded. */
  readonly body: Buffer;
  /** The same compressed, for a body that becomes a segment of its own. */
  readonly compressed: Buffer | undefined;
}

/**
 * zstd level 3: on real batches a tenth smaller than level 1 for a tenth more time (ADR 0001). The output comes in chunks
 * that are allocated whole: no larger than the body needs (ADR 0008).
 */
const zstdOptions = ({ length }: Buffer) => ({
  params: { [zlib.constants.ZSTD_c_compressionLevel]: 3 },
  pledgedSrcSize: length,
  chunkSize: Math.min(256 * 1024, Math.max(1024, length >> 1)),
});
const zstdCompress = promisify(zlib.zstdCompress);

/** Compresses what a client sent, when it becomes a segment of its own: outside of the group commit, on another thread. */
export async function acceptBatch(
  access: Access,
  projection: Projection,
  received: { body: Buffer; atMs: number },
): Promise<AcceptedBatch> {
  const { body, atMs } = received;
  return {
    ...projection,
    spaceId: access.spaceId,
    apiKeyId: access.keyId,
    receivedAtMs: atMs,
    body,
    compressed: body.length >= ownSegmentBytesMin ? await zstdCompress(body, zstdOptions(body)) : undefined,
  };
}

/** Compresses the bodies of a shared segment. They are small together: another thread would cost more. */
export function compressShared(bodies: Buffer): Buffer {
  return zlib.zstdCompressSync(bodies, zstdOptions(bodies));
}
