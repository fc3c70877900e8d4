import zlib from 'node:zlib';
import { IngestError } from '../../../event/errors.ts';
import { openFairLimiter } from '../../../platform/fair-limiter.ts';
import { type BodyLimits, bodyTooLarge } from './body.ts';
import { BodyBuffer } from './body-buffer.ts';
import { type BudgetedBuffer, memoryExhausted } from './budgeted-buffer.ts';
import type { BufferPool } from './buffer-pool.ts';

/** The compressions that a request body may have (docs/api.md). */
export const contentEncodings = ['gzip', 'deflate', 'br', 'zstd'] as const;

type ContentEncoding = (typeof contentEncodings)[number];

const decoders = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
} satisfies Record<ContentEncoding, unknown>;

/** The request names an unknown compression, for which gRPC has a separate status code. */
export class UnknownEncodingError extends IngestError {
  constructor() {
    const known = contentEncodings.join(', ');
    super('invalid_request_body', `The Content-Encoding must be one of ${known}, or absent.`);
    this.name = 'UnknownEncodingError';
  }
}

export type DecodeBody = ReturnType<typeof createBodyDecoder>;

/**
 * The decoder of all bodies of a process: decompresses `atOnceMax` at a time, those of spaces in turns. A
 * decompression bomb stops at `bytesMax`, and each decompressed chunk counts against the budget at once.
 * `encoding` is the header's value; absent, empty and `identity` are the same.
 * @throws IngestError `invalid_request_body`, `batch_too_large`, `ingest_unavailable`.
 */
export function createBodyDecoder(pool: BufferPool, atOnceMax: number) {
  const waitingOfUserMax = Number.POSITIVE_INFINITY;
  const takeTurn = openFairLimiter({ atOnceMax, atOnceOfSpaceMax: atOnceMax, waitingOfUserMax });
  return async (bytes: Buffer, encoding: string | undefined, limits: BodyLimits): Promise<BudgetedBuffer> => {
    const sent = (encoding ?? '').trim().toLowerCase();
    // RFC 9110 §8.4.1.3
    const name = sent === 'x-gzip' ? 'gzip' : sent;
    if (name === '' || name === 'identity') return { bytes, [Symbol.dispose]: () => {} };
    if (!isKnown(name)) throw new UnknownEncodingError();
    const decoded = new BodyBuffer(pool);
    const { spaceId } = limits.budget;
    const release = () => {
      limits.budget.release(decoded.length);
      decoded.release();
    };
    try {
      await takeTurn({ spaceId, holderId: spaceId }, () => decompress(bytes, name, { decoded, limits }));
      return { bytes: decoded.toBytes(), [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  };
}

function isKnown(name: string): name is ContentEncoding {
  return Object.hasOwn(decoders, name);
}

async function decompress(
  bytes: Buffer,
  name: ContentEncoding,
  { decoded, limits }: { decoded: BodyBuffer; limits: BodyLimits },
): Promise<void> {
  const { bytesMax, budget } = limits;
  const decoder = decoders[name]({ chunkSize: outputChunkBytes(bytes) });
  await new Promise<void>((resolve, reject) => {
    const stop = (error: IngestError) => {
      // zlib's worker is idle during 'data', so the caller may free `bytes` from here on.
      decoder.destroy();
      reject(error);
    };
    decoder.on('data', (chunk: Buffer) => {
      if (decoded.length + chunk.length > bytesMax) return stop(bodyTooLarge(bytesMax));
      if (!budget.take(chunk.length)) return stop(memoryExhausted());
      decoded.add(chunk);
    });
    decoder.once('end', resolve).once('error', (cause) => {
      reject(new IngestError('invalid_request_body', `The body is not valid ${name} data.`, { cause }));
    });
    decoder.end(bytes);
  });
  // zlib ignores bytes after the end of the compressed data.
  if (decoder.bytesWritten === bytes.length) return;
  throw new IngestError('invalid_request_body', `The body has bytes after the end of its ${name} data.`);
}

/**
 * Each chunk of output costs a switch to zlib's thread and back: with Node's default of 16 KiB a batch of 3
 * MB takes three times as long. Events compress to a tenth or less.
 */
function outputChunkBytes(bytes: Buffer): number {
  return Math.min(512 * 1024, Math.max(32 * 1024, bytes.length * 16));
}
