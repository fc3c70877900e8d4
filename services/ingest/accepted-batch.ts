import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { IngestEvent } from '../../lib/event/event.ts';
import { type ColumnTexts, projectColumns } from '../../lib/event/projection.ts';
import { ownSegmentBytesMin } from '../../lib/limits.ts';
import type { Access } from './access.ts';

/** A validated batch on its way into the queue. */
export interface AcceptedBatch {
  readonly spaceId: string;
  readonly apiKeyId: string;
  readonly receivedAtMs: number;
  readonly eventCount: number;
  readonly columns: ColumnTexts;
  /** The request's body as it was sent, decoded. */
  readonly body: Buffer;
  /** The same compressed, for a body that becomes a segment of its own. */
  readonly compressed: Buffer | undefined;
}

/**
 * zstd level 3: on real batches a tenth smaller than level 1 for a tenth more time (ADR 0001).
 */
const zstdOptions = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 3 }, chunkSize: 256 * 1024 };
const zstdCompress = promisify(zlib.zstdCompress);

/** Projects and compresses what a client sent, once, outside of the group commit. */
export async function acceptBatch(
  access: Access,
  events: readonly IngestEvent[],
  received: { body: Buffer; atMs: number },
): Promise<AcceptedBatch> {
  const { body, atMs } = received;
  // Started first: it runs on another thread while the columns are projected here.
  const compressing = body.length >= ownSegmentBytesMin ? zstdCompress(body, zstdOptions) : undefined;
  const columns = projectColumns(events);
  return {
    spaceId: access.spaceId,
    apiKeyId: access.keyId,
    receivedAtMs: atMs,
    eventCount: events.length,
    columns,
    body,
    compressed: await compressing,
  };
}

/** Compresses the bodies of a shared segment. They are small together: another thread would cost more. */
export function compressShared(bodies: Buffer): Buffer {
  return zlib.zstdCompressSync(bodies, zstdOptions);
}
