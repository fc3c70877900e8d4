import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The content of an open file. */
export interface FileContent {
  sizeBytes: number;
  /** Bytes of the file that were read so far, before decompression. */
  bytesRead(): number;
  /** The decompressed content. The file is read while it is iterated, and closed after the last chunk. */
  chunks: AsyncIterable<Buffer>;
}

const gzipMagic = Buffer.from([0x1f, 0x8b]);

/** Size of one read. With a quarter of it, a large file takes a sixth more CPU, for more reads and garbage. */
const chunkBytes = 1024 * 1024;

/**
 * Opens a file, plain or gzip-compressed (detected by its first bytes).
 *
 * @throws the error of node:fs when the file cannot be opened.
 */
export async function openFileContent(path: string): Promise<FileContent> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const magic = Buffer.alloc(gzipMagic.length);
    if (size > 0) await file.read({ buffer: magic, position: 0 });
    const raw = file.createReadStream({ start: 0, highWaterMark: chunkBytes });
    const chunks = magic.equals(gzipMagic) ? decompress(raw) : raw;
    return { sizeBytes: size, bytesRead: () => raw.bytesRead, chunks };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Also closes the file when the iteration stops early. An error of either stream is thrown by the iteration. */
function decompress(raw: Readable): AsyncIterable<Buffer> {
  return pipeline(raw, createGunzip({ chunkSize: chunkBytes }), () => {});
}
