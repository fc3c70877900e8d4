import { constants, zstdCompressSync } from 'node:zlib';
import { joinEvents, listEvents } from './cut.ts';
import { decompressSegment } from './parsed-event.ts';

/**
 * Keeps some events with their bytes and indexes; `0` replaces the others, and bytes around events are
 * dropped.
 * @throws Error when the segment is damaged.
 */
export function rebuildSegment(
  { body, rawBytes }: { readonly body: Uint8Array; readonly rawBytes: number },
  isKept: (index: number) => boolean,
): { body: Buffer; rawBytes: number } {
  const segment = decompressSegment(body, rawBytes);
  const texts = listEvents(segment).map((text, index) => (isKept(index) ? text : undefined));
  const raw = joinEvents(segment, texts);
  return { body: compressRaw(raw), rawBytes: raw.length };
}

/** Uses the compression level of ingest, so that the result is not larger than before. */
export function compressRaw(raw: Buffer): Buffer {
  return zstdCompressSync(raw, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
}
