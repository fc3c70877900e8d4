import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Projection } from '../../../lib/event/projection.ts';
import type { Principal } from '../admit/api-key-cache.ts';
import { ownSegmentBytesMin } from '../limits.ts';

/** A validated batch on its way into the queue: all of its events, or those that fit into one message. */
export interface CompressedBatch extends Projection {
  readonly spaceId: string;
  readonly apiKeyId: string;
  readonly receivedAtMs: number;
  /** The JSON request body, decoded. */
  readonly body: Buffer;
  /** The length of what `compressed` holds: the body, or what one message has of it. */
  readonly rawBytes: number;
  /** The body compressed, if it is large enough for a segment of its own. */
  readonly compressed: Buffer | undefined;
}

/**
 * zstd level 3: on real batches a tenth smaller than level 1, for a tenth more time (ADR 0001). zlib allocates the output
 * in whole chunks, so they are no larger than the body needs (ADR 0008).
 */
const zstdOptions = ({ length }: Buffer) => ({
  params: { [zlib.constants.ZSTD_c_compressionLevel]: 3 },
  pledgedSrcSize: length,
  chunkSize: Math.min(256 * 1024, Math.max(1024, length >> 1)),
});
const zstdCompress = promisify(zlib.zstdCompress);

/** Compresses the body of a batch if it becomes a segment of its own: before the group commit, on zlib's threads. */
export async function compressBatch(
  principal: Principal,
  projection: Projection,
  received: { body: Buffer; atMs: number },
): Promise<CompressedBatch> {
  const { body, atMs } = received;
  return {
    ...projection,
    spaceId: principal.spaceId,
    apiKeyId: principal.keyId,
    receivedAtMs: atMs,
    body,
    rawBytes: body.length,
    compressed: body.length >= ownSegmentBytesMin ? await compressBody(body) : undefined,
  };
}

/** Compresses a body on one of zlib's threads. */
export function compressBody(body: Buffer): Promise<Buffer> {
  return zstdCompress(body, zstdOptions(body));
}

/** Compresses the bodies of a shared segment, synchronously: for so few bytes another thread would cost more. */
export function compressShared(bodies: Buffer): Buffer {
  return zlib.zstdCompressSync(bodies, zstdOptions(bodies));
}
