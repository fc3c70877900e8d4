import { constants, zstdCompressSync } from 'node:zlib';
import { joinEvents, listEvents } from './cut.ts';
import { decompressSegment } from './parsed-event.ts';

/**
 * Compresses a segment again with some of its events. They keep their bytes and their indexes: the text of each other one becomes
 * `0`, and what lies around the events is left out.
 *
 * @throws Error when the segment is damaged.
 */
export function rebuildSegment(
  { body, rawBytes }: { readonly body: Uint8Array; readonly rawBytes: number },
  isKept: (index: number) => boolean,
): { body: Buffer; rawBytes: number } {
  const segment = decompressSegment(body, rawBytes);
  const texts = listEvents(segment).map((text, index) => (isKept(index) ? text : undefined));
  const raw = joinEvents(segment, texts);
  return { body: compress(raw), rawBytes: raw.length };
}

/** The level of ingest: what is left takes no more room than before. */
function compress(raw: Buffer): Buffer {
  return zstdCompressSync(raw, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
}
