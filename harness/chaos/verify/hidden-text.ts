import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';

const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/**
 * More than a compressed segment of the drill has. Postgres stores what is above 2 KB in pieces, which no
 * frame can be read from.
 */
const frameBytesMax = 64 * 1024;

/**
 * Whether bytes contain a text, as it is or in a frame of zstd: segments and parts of the queue are
 * compressed.
 */
export function hasText(bytes: Buffer, text: string): boolean {
  if (bytes.includes(text)) return true;
  for (let at = bytes.indexOf(zstdMagic); at !== -1; at = bytes.indexOf(zstdMagic, at + 1))
    if (decompress(bytes.subarray(at, at + frameBytesMax)).includes(text)) return true;
  return false;
}

/** The files below a directory that contain a text. */
export function filesWith(directory: string, text: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => hasText(readFileSync(file), text));
}

/** The first frame of the bytes, whatever follows it; empty when it is not whole. */
function decompress(bytes: Buffer): Buffer {
  try {
    return zstdDecompressSync(bytes);
  } catch {
    return Buffer.alloc(0);
  }
}
