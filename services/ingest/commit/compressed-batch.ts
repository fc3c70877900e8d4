import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type Projection, projectEvents } from '../../../lib/event/projection.ts';
import type { OwnSpan } from '../../../lib/tracing/own-spans.ts';
import type { Principal } from '../admit/api-key-cache.ts';
import { ownSegmentBytesMin } from '../limits.ts';

/** A validated batch to publish: all events of a request, or those that fit into one message. */
export interface CompressedBatch extends Projection {
  readonly spaceId: string;
  readonly apiKeyId: string;
  readonly receivedAtMs: number;
  /** The JSON request body, decoded. */
  readonly body: Buffer;
  /** The uncompressed size of this batch's events, in bytes. */
  readonly rawBytes: number;
  /** The compressed body, if it is large enough for a separate segment. */
  readonly compressed: Buffer | undefined;
  /** Spans of traces: a JSON array for weir.queue.v1.TraceNodes. A batch has either these or events. */
  readonly nodes?: string;
  /** The span of its request. */
  readonly span?: OwnSpan;
}

/**
 * zstd level 3: on real batches 10% smaller than level 1, for 10% more time (ADR 0001). zlib allocates the output in whole
 * chunks, so the chunk size follows the size of the body (ADR 0008).
 */
const zstdOptions = ({ length }: Buffer) => ({
  params: { [zlib.constants.ZSTD_c_compressionLevel]: 3 },
  pledgedSrcSize: length,
  chunkSize: Math.min(256 * 1024, Math.max(1024, length >> 1)),
});
const zstdCompress = promisify(zlib.zstdCompress);

/** Compresses the body of a batch that becomes a separate segment, before the group commit and on zlib's threads. */
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

/** A batch of nodes, without events. */
export function batchOfNodes(principal: Principal, nodes: string, atMs: number): CompressedBatch {
  return {
    ...projectEvents([]),
    spaceId: principal.spaceId,
    apiKeyId: principal.keyId,
    receivedAtMs: atMs,
    body: Buffer.alloc(0),
    rawBytes: 0,
    compressed: undefined,
    nodes,
  };
}

/** Compresses a body on one of zlib's threads. */
export function compressBody(body: Buffer): Promise<Buffer> {
  return zstdCompress(body, zstdOptions(body));
}

/** Compresses the bodies of a shared segment synchronously: for so few bytes a thread switch would cost more. */
export function compressShared(bodies: Buffer): Buffer {
  return zlib.zstdCompressSync(bodies, zstdOptions(bodies));
}
