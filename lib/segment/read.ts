import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import type { Sql } from '../db/connect.ts';
import { segmentReadsMax } from '../limits.ts';
import { cutEvents } from './cut.ts';

const decompress = promisify(zstdDecompress);

/** The smallest step that node:zlib takes. */
const chunkBytesMin = 64;

/** Where an event is kept: `events.segment_id` and `events.segment_index`. */
export interface EventLocator {
  segmentId: string;
  segmentIndex: number;
}

/** The events that were asked for are more text than the caller has room for. Asking for fewer of them helps. */
export class EventTextsTooLarge extends Error {
  override name = 'EventTextsTooLarge';
}

/**
 * Reads events as the JSON text that was sent, in the order asked for. Each segment is fetched once, and few at a
 * time, so that memory holds the events and not their segments.
 *
 * @param options `charsMax` bounds the text of all of them together.
 * @returns undefined in the place of an event that the space does not have.
 * @throws EventTextsTooLarge when the text exceeds `charsMax`; Error when a segment is not what was stored.
 */
export async function readEventTexts(
  sql: Sql,
  spaceId: string,
  locators: readonly EventLocator[],
  { charsMax = Number.POSITIVE_INFINITY }: { charsMax?: number } = {},
): Promise<(string | undefined)[]> {
  const bySegment = Map.groupBy(locators.keys(), (place) => locators[place]?.segmentId ?? '');
  const texts = new Array<string | undefined>(locators.length).fill(undefined);
  let chars = 0;
  // One iterator for all readers: each takes the next segment that nobody has taken.
  const segments = bySegment.entries();
  const readSegments = async () => {
    for (const [segmentId, places] of segments) {
      const indexes = places.map((place) => locators[place]?.segmentIndex ?? -1);
      const cut = await readSegmentEvents(sql, spaceId, { segmentId, indexes });
      places.forEach((place, i) => {
        texts[place] = cut.get(indexes[i] ?? -1);
        chars += texts[place]?.length ?? 0;
      });
      if (chars > charsMax)
        throw new EventTextsTooLarge(`The events are longer than ${charsMax} characters.`);
    }
  };
  await Promise.all(Array.from({ length: segmentReadsMax }, readSegments));
  return texts;
}

async function readSegmentEvents(
  sql: Sql,
  spaceId: string,
  wanted: { segmentId: string; indexes: number[] },
): Promise<Map<number, string>> {
  const [row] = await sql<{ body: Buffer; rawBytes: number }[]>`
    SELECT body, raw_bytes AS "rawBytes" FROM segments WHERE space_id = ${spaceId} AND id = ${wanted.segmentId}`;
  if (row === undefined) return new Map();
  const segment = await decompress(row.body, {
    maxOutputLength: row.rawBytes,
    // Unpacked in one step, with a byte to spare for seeing its end: in steps of 16 KB it takes six times as long.
    chunkSize: Math.max(row.rawBytes + 1, chunkBytesMin),
  });
  if (segment.length !== row.rawBytes) throw new Error(`Segment ${wanted.segmentId} is damaged`);
  return cutEvents(segment, wanted.indexes);
}
