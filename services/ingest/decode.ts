import zlib from 'node:zlib';
import { type ContentEncoding, contentEncodings } from '../../lib/content-encoding.ts';
import { IngestError } from '../../lib/errors.ts';
import { openGate } from '../../lib/gate.ts';
import { bodyBytesMax, decodesAtOnceMax } from '../../lib/limits.ts';
import { bodyTooLarge, type HeldBody, memoryExhausted } from './body.ts';
import { BodyBuffer } from './body-buffers.ts';
import type { ByteBudget } from './byte-budget.ts';

const decoders = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
} satisfies Record<ContentEncoding, unknown>;

/** The request names a compression that is not known here. gRPC tells it from one that is damaged. */
export class UnknownEncodingError extends IngestError {
  constructor() {
    const known = contentEncodings.join(', ');
    super('invalid_request_body', `The Content-Encoding must be one of ${known}, or absent.`);
    this.name = 'UnknownEncodingError';
  }
}

/** What is being decompressed counts against no budget yet: a thousand bombs at once would be 4 GiB. */
const throughGate = openGate(decodesAtOnceMax);

/**
 * Undoes a request's Content-Encoding. The 4 MiB limit holds after it too, so a bomb stops at the limit; and what
 * decoding adds is held against the budget as well, so that many small bombs do.
 *
 * @param encoding the header's value; absent, empty and `identity` are the same.
 * @throws IngestError `invalid_request_body`, `batch_too_large`, `ingest_unavailable`.
 */
export async function decodeBody(
  bytes: Buffer,
  encoding: string | undefined,
  budget: ByteBudget,
): Promise<HeldBody> {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return { bytes, [Symbol.dispose]: () => {} };
  if (!Object.hasOwn(decoders, name)) throw new UnknownEncodingError();
  const decoded = await throughGate(() => decode(bytes, name as ContentEncoding));
  const { length } = decoded;
  if (!budget.take(length)) {
    decoded.release();
    throw memoryExhausted();
  }
  return {
    bytes: decoded.toBytes(),
    [Symbol.dispose]: () => {
      decoded.release();
      budget.release(length);
    },
  };
}

async function decode(bytes: Buffer, name: ContentEncoding): Promise<BodyBuffer> {
  const decoded = new BodyBuffer();
  const decoder = decoders[name]({ chunkSize: outputChunkBytes(bytes) });
  const done = new Promise<void>((resolve, reject) => {
    decoder.on('data', (chunk: Buffer) => {
      if (decoded.length + chunk.length <= bodyBytesMax) return decoded.add(chunk);
      // Its thread rests while it shows us a chunk: nobody reads `bytes` any more when they are let go.
      decoder.destroy();
      reject(bodyTooLarge());
    });
    decoder.once('end', resolve).once('error', (cause) => {
      reject(new IngestError('invalid_request_body', `The body is not valid ${name} data.`, { cause }));
    });
  });
  decoder.end(bytes);
  try {
    await done;
    // What follows the end of the compressed data would be dropped in silence.
    if (decoder.bytesWritten === bytes.length) return decoded;
    throw new IngestError('invalid_request_body', `The body goes on after the end of its ${name} data.`);
  } catch (error) {
    decoded.release();
    throw error;
  }
}

/**
 * Each chunk of output is a way to another thread and back: in the 16 KiB that are node's own, a batch of 3 MB takes
 * three times as long. Events shrink to a tenth, or to less.
 */
function outputChunkBytes(bytes: Buffer): number {
  return Math.min(512 * 1024, Math.max(32 * 1024, bytes.length * 16));
}
