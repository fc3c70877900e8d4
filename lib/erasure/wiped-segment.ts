import { constants, zstdCompressSync } from 'node:zlib';
import type { IngestEvent } from '../event/event.ts';
import { projectTerms } from '../event/projection.ts';
import { joinEvents, listEvents } from '../segment/cut.ts';
import { decompressSegment, parseEvent } from '../segment/parsed-event.ts';

/** A segment as it is stored. */
export interface StoredBody {
  readonly body: Buffer;
  readonly rawBytes: number;
}

/** A segment without some of its events. All others have the bytes and the index that they had. */
export interface WipedSegment extends StoredBody {
  /** The indexes of the events that are gone. */
  readonly wiped: readonly number[];
  /** The terms of the events that are left, not yet those of a space. */
  readonly terms: readonly bigint[];
}

/**
 * Takes events out of a segment: the text of each becomes `0`. What lies around the events of a body goes too: other members,
 * which nothing reads, may hold what was erased. An event that has no row, because it was sent twice, is taken out as well.
 *
 * @returns undefined when it has no such event.
 * @throws Error when the segment is damaged.
 */
export function wipeSegment(
  { body, rawBytes }: StoredBody,
  isGone: (event: IngestEvent, index: number) => boolean,
): WipedSegment | undefined {
  const segment = decompressSegment(body, rawBytes);
  const ranges = listEvents(segment);
  const wiped: number[] = [];
  const left: IngestEvent[] = [];
  const texts = ranges.map((range, index) => {
    const event = parseEvent(segment, range);
    if (event === undefined) return undefined;
    if (isGone(event, index)) {
      wiped.push(index);
      return undefined;
    }
    left.push(event);
    return range;
  });
  if (wiped.length === 0) return undefined;
  const raw = joinEvents(segment, texts);
  return { wiped, terms: projectTerms(left), body: compress(raw), rawBytes: raw.length };
}

/** The level of ingest: what is left takes no more room than before. */
function compress(raw: Buffer): Buffer {
  return zstdCompressSync(raw, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
}
