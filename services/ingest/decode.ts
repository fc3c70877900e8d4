import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type ContentEncoding, contentEncodings } from '../../lib/content-encoding.ts';
import { IngestError } from '../../lib/errors.ts';
import { openGate } from '../../lib/gate.ts';
import { bodyBytesMax, decodesAtOnceMax } from '../../lib/limits.ts';
import { bodyTooLarge, type HeldBody, memoryExhausted } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';

/** What the callbacks of node:zlib give with `info: true`: the engine knows how much input it used. */
interface Decoded {
  buffer: Buffer;
  engine: { bytesWritten: number };
}
type Decoder = (input: Buffer, options: { maxOutputLength: number; info: true }) => Promise<Decoded>;

// node:zlib's types do not know what `info: true` does to the result.
const decoders: Record<ContentEncoding, Decoder> = {
  gzip: promisify(zlib.gunzip) as unknown as Decoder,
  deflate: promisify(zlib.inflate) as unknown as Decoder,
  br: promisify(zlib.brotliDecompress) as unknown as Decoder,
  zstd: promisify(zlib.zstdDecompress) as unknown as Decoder,
};

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
  if (!budget.take(decoded.length)) throw memoryExhausted();
  return { bytes: decoded, [Symbol.dispose]: () => budget.release(decoded.length) };
}

async function decode(bytes: Buffer, name: ContentEncoding): Promise<Buffer> {
  let decoded: Decoded;
  try {
    decoded = await decoders[name](bytes, { maxOutputLength: bodyBytesMax, info: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge();
    throw new IngestError('invalid_request_body', `The body is not valid ${name} data.`, { cause: error });
  }
  // What follows the end of the compressed data would be dropped in silence.
  if (decoded.engine.bytesWritten !== bytes.length) {
    throw new IngestError('invalid_request_body', `The body goes on after the end of its ${name} data.`);
  }
  return decoded.buffer;
}
