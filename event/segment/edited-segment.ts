import { constants, zstdCompressSync } from 'node:zlib';
import { joinTexts } from './batch-body.ts';
import { erasedText, listEvents } from './cut.ts';
import { decompressSegment } from './parsed-event.ts';

/**
 * Replaces texts of events. All events keep their indexes; bytes around events are dropped.
 * @param textOf the new text of an event, by its index; undefined removes the event.
 * @throws Error when the segment is damaged.
 */
export function editSegment(
  { body, rawBytes }: { readonly body: Uint8Array; readonly rawBytes: number },
  textOf: (index: number, sent: Buffer) => string | Buffer | undefined,
): { body: Buffer; rawBytes: number } {
  const segment = decompressSegment(body, rawBytes);
  const texts = listEvents(segment).map(
    ({ start, end }, index) => textOf(index, segment.subarray(start, end)) ?? erasedText,
  );
  const raw = joinTexts(texts);
  // The compression level of ingest, so that the result is not larger than before.
  const params = { [constants.ZSTD_c_compressionLevel]: 3 };
  return { body: zstdCompressSync(raw, { params }), rawBytes: raw.length };
}
