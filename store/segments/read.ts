import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { and, eq } from 'drizzle-orm';
import { cutEvents, erasedText } from '../../event/segment/cut.ts';
import type { Database } from '../db/database.ts';
import { segments } from '../db/schema.ts';

/** Segments read concurrently for one answer. Each takes up to 4 MiB until its events are cut out. */
export const segmentReadsMax = 4;

const decompress = promisify(zstdDecompress);

/** The smallest `chunkSize` that node:zlib accepts. */
const chunkBytesMin = 64;

/** `events.segment_id` and `events.segment_index`. */
export interface EventLocator {
  segmentId: string;
  segmentIndex: number;
}

/** The requested events exceed the caller's `charsMax`. The caller may retry with fewer. */
export class EventTextsTooLargeError extends Error {
  override name = 'EventTextsTooLargeError';
}

/**
 * Reads events as sent, in the order of `locators`. Each segment is fetched once, {@link segmentReadsMax} at
 * a time: memory holds the events, not their segments.
 * @param options `charsMax` bounds the total length of the texts.
 * @returns undefined for an event that the space does not have, or that was erased.
 * @throws EventTextsTooLargeError when the texts exceed `charsMax`; Error when a segment is damaged.
 */
export async function readEventTexts(
  database: Database,
  spaceId: string,
  locators: readonly EventLocator[],
  { charsMax = Number.POSITIVE_INFINITY }: { charsMax?: number } = {},
): Promise<(string | undefined)[]> {
  const bySegment = Map.groupBy(locators.keys(), (place) => locators[place]?.segmentId ?? '');
  const texts = new Array<string | undefined>(locators.length).fill(undefined);
  let chars = 0;
  // The concurrent loops share one iterator: each takes the next segment.
  const segments = bySegment.entries();
  const readSegments = async () => {
    for (const [segmentId, places] of segments) {
      const indexes = places.map((place) => locators[place]?.segmentIndex ?? -1);
      const cut = await readSegmentEvents(database, spaceId, { segmentId, indexes });
      places.forEach((place, i) => {
        const text = cut.get(indexes[i] ?? -1);
        if (text !== erasedText) texts[place] = text;
        chars += texts[place]?.length ?? 0;
      });
      if (chars > charsMax) {
        throw new EventTextsTooLargeError(`The events are longer than ${charsMax} characters.`);
      }
    }
  };
  await Promise.all(Array.from({ length: segmentReadsMax }, readSegments));
  return texts;
}

async function readSegmentEvents(
  database: Database,
  spaceId: string,
  wanted: { segmentId: string; indexes: number[] },
): Promise<Map<number, string>> {
  const segment = await readSegment(database, spaceId, wanted.segmentId);
  return segment === undefined ? new Map() : cutEvents(segment, wanted.indexes);
}

/**
 * Reads up to 4 MiB. @returns undefined when the space has no such segment. @throws Error when it is damaged.
 */
export async function readSegment(
  database: Database,
  spaceId: string,
  segmentId: string,
): Promise<Buffer | undefined> {
  return (await readWholeSegment(database, spaceId, segmentId))?.bytes;
}

/** Reads the body of a segment, and the earliest start time of its events. */
export async function readWholeSegment(
  database: Database,
  spaceId: string,
  segmentId: string,
): Promise<{ bytes: Buffer; minStartMs: number } | undefined> {
  const [row] = await database
    .select({ body: segments.body, rawBytes: segments.rawBytes, minStartMs: segments.minStartMs })
    .from(segments)
    .where(and(eq(segments.spaceId, spaceId), eq(segments.id, segmentId)))
    .prepare('segment')
    .execute();
  if (row === undefined) return undefined;
  const bytes = await decompress(row.body, {
    maxOutputLength: row.rawBytes,
    // In one step, with one byte more so that zlib detects the end: steps of 16 KB take six times as long.
    chunkSize: Math.max(row.rawBytes + 1, chunkBytesMin),
  });
  if (bytes.length !== row.rawBytes) throw new Error(`Segment ${segmentId} is damaged.`);
  return { bytes, minStartMs: row.minStartMs };
}
