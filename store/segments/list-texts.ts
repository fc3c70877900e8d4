import type { EventCursor } from '../read/event-cursor.ts';
import { isEventStored } from '../read/event-existence.ts';
import { OpenSegments, type SegmentSource } from './open-segments.ts';
import { type EventLocator, segmentReadsMax } from './read.ts';

export interface ListTextLimits {
  /** Events of the first read. Each further one has up to twice as many. */
  readonly firstEvents: number;
  readonly eventsMax: number;
  /** Characters of the texts of a read. One that exceeds them by some segments ends early. */
  readonly charsMax: number;
}

type ListedRow = EventLocator & EventCursor;

/**
 * Adds to the rows of a list, newest start first, the texts as sent. Events that started together may be in
 * many segments, so many rows are read together, and segments stay open for later rows.
 * @returns the rows of a read, without those of events deleted since they were listed.
 * @throws Error when a segment is damaged or missing.
 */
export async function* readListTexts<Row extends ListedRow>(
  source: SegmentSource,
  pages: AsyncIterable<readonly Row[]>,
  { firstEvents, eventsMax, charsMax }: ListTextLimits,
): AsyncGenerator<[Row, string][]> {
  using segments = new OpenSegments(source);
  let waiting: readonly Row[] = [];
  let count = firstEvents;
  async function* takeReads(isLast: boolean): AsyncGenerator<[Row, string][]> {
    while (waiting.length >= count || (isLast && waiting.length > 0)) {
      const rows = waiting.slice(0, count);
      const { texts, chars, end } = await readTogether(segments, rows, charsMax);
      const done = rows.slice(0, end);
      yield await pairWithTexts(source, done, texts);
      segments.pass(done.at(-1)?.startTimeMs ?? Number.POSITIVE_INFINITY);
      waiting = waiting.slice(end);
      const fitting = Math.floor((charsMax / Math.max(chars, 1)) * texts.size);
      count = Math.max(1, Math.min(2 * count, eventsMax, fitting));
    }
  }
  for await (const page of pages) {
    waiting = [...waiting, ...page];
    yield* takeReads(false);
  }
  yield* takeReads(true);
}

interface TextsRead<Row> {
  readonly texts: ReadonlyMap<Row, string>;
  readonly chars: number;
  /** The number of rows whose segments were read. */
  readonly end: number;
}

/** Opens the segments of the rows in the order of the rows, until the texts have `charsMax` characters. */
async function readTogether<Row extends ListedRow>(
  segments: OpenSegments,
  rows: readonly Row[],
  charsMax: number,
): Promise<TextsRead<Row>> {
  const bySegment = Map.groupBy(rows, ({ segmentId }) => segmentId);
  const texts = new Map<Row, string>();
  let chars = 0;
  // The concurrent loops share one iterator: each takes the next segment.
  const left = bySegment.entries();
  const unread = new Set(bySegment.keys());
  const readSegments = async () => {
    while (chars < charsMax) {
      const next = left.next();
      if (next.done) return;
      const [segmentId, own] = next.value;
      unread.delete(segmentId);
      const read = await segments.read(
        segmentId,
        own.map(({ segmentIndex }) => segmentIndex),
      );
      for (const row of own) {
        const text = read.get(row.segmentIndex);
        if (text !== undefined) texts.set(row, text);
        chars += text?.length ?? 0;
      }
    }
  };
  await Promise.all(Array.from({ length: segmentReadsMax }, readSegments));
  const end = rows.findIndex(({ segmentId }) => unread.has(segmentId));
  return { texts, chars, end: end === -1 ? rows.length : end };
}

async function pairWithTexts<Row extends ListedRow>(
  { database, spaceId }: SegmentSource,
  rows: readonly Row[],
  texts: ReadonlyMap<Row, string>,
): Promise<[Row, string][]> {
  const pairs: [Row, string][] = [];
  for (const row of rows) {
    const text = texts.get(row);
    if (text !== undefined) pairs.push([row, text]);
    // The event was deleted after its row was read. If its row still exists, the data is damaged.
    else if (await isEventStored(database, spaceId, row.id)) {
      throw new Error(`The segment of event ${row.id} is missing.`);
    }
  }
  return pairs;
}
