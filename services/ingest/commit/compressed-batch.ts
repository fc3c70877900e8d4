import { once } from 'node:events';
import zlib from 'node:zlib';
import { type Projection, projectEvents } from '../../../event/projection.ts';
import type { MediaInit } from '../../../platform/queue/group.ts';
import type { OwnSpan } from '../../../platform/tracing/own-spans.ts';
import type { Principal } from '../admit/api-key-cache.ts';
import { detachBuffer } from '../body/detach-buffer.ts';

/** Bodies of this size and larger are compressed alone, on zlib's threads; smaller ones share a segment. */
export const ownSegmentBytesMin = 64 * 1024;

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
  /** Results of evaluations, beside nodes. */
  readonly notes?: string;
  /** Media that a span names, beside nodes. */
  readonly media?: MediaInit;
  readonly span?: OwnSpan;
}

/** zstd level 3: on real batches 10% smaller than level 1, for 10% more time (ADR 0001). */
const params = { [zlib.constants.ZSTD_c_compressionLevel]: 3 };

/** ZSTD_compressBound. An output chunk of this size lets zstd read the input without a window of 2 MB. */
const frameBytesMax = (bytes: number) => bytes + (bytes >> 8) + 64;

/** Compresses the body of a batch that becomes a separate segment, on zlib's threads. */
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

/** A batch of nodes, and of what is sent like them, without events. */
export function batchOfNodes(
  principal: Principal,
  { nodes = '[]', notes, media, atMs }: Pick<CompressedBatch, 'nodes' | 'notes' | 'media'> & { atMs: number },
): CompressedBatch {
  return {
    ...projectEvents([]),
    spaceId: principal.spaceId,
    apiKeyId: principal.keyId,
    receivedAtMs: atMs,
    // Messages are filled by the sizes of bodies.
    body: media?.data ?? Buffer.alloc(0),
    rawBytes: 0,
    compressed: undefined,
    nodes,
    ...(notes !== undefined && { notes }),
    ...(media !== undefined && { media }),
  };
}

/** Compresses a body on one of zlib's threads. */
export async function compressBody(body: Buffer): Promise<Buffer> {
  const chunkSize = frameBytesMax(body.length);
  // `zlib.zstdCompress` ends the frame after the body is written, so zstd would copy it into its window.
  const options = { params, pledgedSrcSize: body.length, chunkSize, flush: zlib.constants.ZSTD_e_end };
  const stream = zlib.createZstdCompress(options);
  try {
    const frame = once(stream, 'data');
    stream.write(body);
    const [chunk] = (await frame) as [Buffer];
    return takeOut(chunk, chunkSize);
  } finally {
    stream.destroy();
  }
}

/** Compresses the bodies of a shared segment synchronously: a thread switch would cost more. */
export function compressShared(bodies: readonly Buffer[]): Buffer {
  const joined = Buffer.concat(bodies);
  const chunkSize = frameBytesMax(joined.length);
  const chunk = zlib.zstdCompressSync(joined, { params, pledgedSrcSize: joined.length, chunkSize });
  detachBuffer(joined);
  return takeOut(chunk, chunkSize);
}

/** Copies a frame out of the chunk that zlib allocated for it, many times as long, and frees that chunk. */
function takeOut(frame: Buffer, chunkBytes: number): Buffer {
  // A small chunk is part of Node's pool, which others use.
  if (frame.buffer.byteLength !== chunkBytes) return frame;
  const compressed = Buffer.allocUnsafeSlow(frame.length);
  frame.copy(compressed);
  detachBuffer(new Uint8Array(frame.buffer));
  return compressed;
}
