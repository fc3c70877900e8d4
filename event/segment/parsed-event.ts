import { zstdDecompressSync } from 'node:zlib';
import type { IngestEvent } from '../event.ts';
import { parseEscapedKeys } from '../json/parse-escaped-keys.ts';
import { type EventRange, isErased } from './cut.ts';

/**
 * The value that ingest parsed, and validated. @returns undefined for an erased event.
 * @throws Error when the segment is damaged.
 */
export function parseEvent(segment: Buffer, range: EventRange): IngestEvent | undefined {
  if (isErased(segment, range)) return undefined;
  const text = segment.toString('utf8', range.start, range.end);
  const event: unknown = range.hasEscapedKey ? parseEscapedKeys(Buffer.from(text)) : JSON.parse(text);
  return event as IngestEvent;
}

/** The smallest `chunkSize` that node:zlib accepts. */
const chunkBytesMin = 64;

/** Decompresses a segment in one step (see read.ts). @throws Error when it is damaged. */
export function decompressSegment(body: Uint8Array, rawBytes: number): Buffer {
  const segment = zstdDecompressSync(body, {
    maxOutputLength: Math.max(rawBytes, 1),
    chunkSize: Math.max(rawBytes + 1, chunkBytesMin),
  });
  if (segment.length !== rawBytes) throw new Error('the segment is damaged');
  return segment;
}
