import { type CandidateSegment, listCandidates, readCandidates } from './candidate-segments.ts';
import type { EventCursor } from './event-cursor.ts';
import { beginningOf, compareEvents, isAfter, newestFirst, startInSegment } from './event-position.ts';
import type { EventColumns, EventRow, EventSource, FoundEvents } from './event-rows.ts';
import type { ListLimits } from './limits.ts';
import { walkEvents } from './time-walk.ts';

export interface SegmentSearch {
  readonly terms: readonly bigint[];
  readonly after: EventCursor;
  readonly rowsMax: number;
}

/**
 * Finds events by the segments that have all terms. Segments are read by their last start time, newest first, until no
 * other one can have a newer event than those that were found. Listing the many segments of one value takes longer than examining some
 * thousand events in the order of time: that is tried first.
 */
export async function findInSegments<Columns extends EventColumns>(
  source: EventSource<Columns>,
  search: SegmentSearch,
): Promise<FoundEvents<EventRow<Columns>>> {
  const few = await findInFewSegments(source, search);
  if (few !== undefined) return few;
  const { rowsMax, terms } = search;
  // Several values seldom meet in the next thousand events when they did not in the first.
  if (terms.length > 1) return readInOrder(source, search, listReads(source, search));
  const { walkedEvents, firstWalkEvents } = source.limits;
  const walk = await walkEvents(source, search.after, { rowsMax, eventsMax: walkedEvents - firstWalkEvents });
  if (walk.end === undefined || walk.rows.length === rowsMax) return walk;
  const rest = { ...search, after: walk.end, rowsMax: rowsMax - walk.rows.length };
  const found = await readInOrder(source, rest, listReads(source, rest));
  return { rows: [...walk.rows, ...found.rows], end: found.end };
}

/**
 * The same where the space has few segments with all terms.
 *
 * @returns undefined where it has many: examining events in the order of time may be faster.
 */
export async function findInFewSegments<Columns extends EventColumns>(
  source: EventSource<Columns>,
  search: Pick<SegmentSearch, 'terms' | 'rowsMax'> & { after: EventCursor | undefined },
): Promise<FoundEvents<EventRow<Columns>> | undefined> {
  const few = await listFew(source, search);
  return few && readInOrder(source, search, few);
}

async function readInOrder<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { after, rowsMax }: { after: EventCursor | undefined; rowsMax: number },
  reads: Iterable<SegmentRead> | AsyncIterable<SegmentRead>,
): Promise<FoundEvents<EventRow<Columns>>> {
  let found: EventRow<Columns>[] = [];
  let examined = 0;
  for await (const { segments, restMs } of reads) {
    const rows =
      segments.length === 0
        ? []
        : await readCandidates(source, segments, {
            position: isAfter(after, startInSegment),
            order: newestFirst,
            rowsMax,
          });
    found = [...found, ...rows].toSorted(compareEvents).slice(0, rowsMax);
    const last = found[rowsMax - 1];
    if (last !== undefined && last.startTimeMs > restMs) return { rows: found, end: last };
    examined += segments.reduce((sum, { eventCount }) => sum + eventCount, 0);
    // Only where the next page begins later than this one: a page must come nearer to the end.
    const isNearer = restMs < (after?.startTimeMs ?? Number.POSITIVE_INFINITY);
    if (examined > source.limits.segmentEvents && isNearer && restMs !== Number.NEGATIVE_INFINITY) {
      return { rows: found.filter(({ startTimeMs }) => startTimeMs > restMs), end: beginningOf(restMs) };
    }
  }
  return { rows: found, end: undefined };
}

/** Segments whose events are read by one statement. */
interface SegmentRead {
  readonly segments: readonly CandidateSegment[];
  /** No segment that follows has an event that starts later. */
  readonly restMs: number;
}

/** Of most values a space has few segments: they are listed at once. @returns undefined where there are more. */
async function listFew<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: { terms: readonly bigint[]; after: EventCursor | undefined },
): Promise<Iterable<SegmentRead> | undefined> {
  const { filter, limits } = source;
  const fromMs = filter.from ?? Number.NEGATIVE_INFINITY;
  const all = await listCandidates(source, {
    ...{ terms, after, listed: undefined },
    ...{ segmentsMax: limits.segmentsAtOnce + 1, sortedMax: limits.segmentsAtOnce + 1 },
  });
  return all.length <= limits.segmentsAtOnce ? divideReads(all, fromMs, readSizes(limits)) : undefined;
}

/** Lists many segments, some at a time. */
async function* listReads<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: SegmentSearch,
): AsyncGenerator<SegmentRead> {
  const { filter, limits } = source;
  const nextSize = readSizes(limits);
  const fromMs = filter.from ?? Number.NEGATIVE_INFINITY;
  const perList = { segmentsMax: limits.segmentsListed, sortedMax: everySegment };
  let listed: CandidateSegment | undefined;
  do {
    const list = await listCandidates(source, { terms, after, listed, ...perList });
    listed = list[limits.segmentsListed - 1];
    yield* divideReads(list, listed?.maxStartMs ?? fromMs, nextSize);
  } while (listed !== undefined);
}

/** More segments than any space has. */
const everySegment = 2 ** 40;

/** How many events each read has at most. */
function readSizes({ firstReadEvents, eventsPerRead }: ListLimits): () => number {
  let size = firstReadEvents / 2;
  return () => {
    size = Math.min(2 * size, eventsPerRead);
    return size;
  };
}

/** @param restMs no segment that is not in the list has an event that starts later. */
function* divideReads(
  list: readonly CandidateSegment[],
  restMs: number,
  nextSize: () => number,
): Generator<SegmentRead> {
  for (let at = 0; at < list.length; ) {
    const segments = takeRead(list.slice(at), nextSize());
    at += segments.length;
    yield { segments, restMs: list[at]?.maxStartMs ?? restMs };
  }
  if (list.length === 0) yield { segments: [], restMs };
}

/** The first segments, at least one, whose events are read together. */
function takeRead(segments: readonly CandidateSegment[], eventsMax: number): CandidateSegment[] {
  let eventCount = 0;
  const end = segments.findIndex((segment, at) => {
    eventCount += segment.eventCount;
    return at > 0 && eventCount > eventsMax;
  });
  return segments.slice(0, end === -1 ? undefined : end);
}
