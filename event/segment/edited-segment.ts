import { joinTexts } from './batch-body.ts';
import { erasedText, listEvents } from './cut.ts';
import { decompressSegment } from './parsed-event.ts';
import { compressRaw } from './rebuilt-segment.ts';

/**
 * Replaces texts of events, by index; undefined removes an event. The others keep bytes and indexes.
 * @throws Error when the segment is damaged.
 */
export function editSegment(
  { body, rawBytes }: { readonly body: Uint8Array; readonly rawBytes: number },
  edits: ReadonlyMap<number, string | undefined>,
): { body: Buffer; rawBytes: number } {
  const segment = decompressSegment(body, rawBytes);
  const texts = listEvents(segment).map(({ start, end }, index) =>
    edits.has(index) ? (edits.get(index) ?? erasedText) : segment.subarray(start, end),
  );
  const raw = joinTexts(texts);
  return { body: compressRaw(raw), rawBytes: raw.length };
}
