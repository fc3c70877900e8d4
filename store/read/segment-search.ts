import { dayMs } from '../../platform/time.ts';
import {
  type CandidateSegment,
  listCandidates,
  readCandidates,
  type SegmentPosition,
  type SegmentWalk,
  walkSegments,
} from './candidate-segments.ts';
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
 * Finds events in the segments that have all terms, when the space has more than `findInFewSegments` lists. Segments are read by their
 * latest start time, newest first, until no remaining segment can have a newer event than those found.
 */
export async function findInSegments<Columns extends EventColumns>(
  source: EventSource<Columns>,
  search: SegmentSearch,
): Promise<FoundEvents<EventRow<Columns>>> {
  const { rowsMax, terms } = search;
  const { limits } = source;
  const mayEndEarly = rowsMax >= limits.enoughRows;
  const first = mayEndEarly ? undefined : await walkFirst(source, search);
  if (first !== undefined) return readInOrder(source, search, walkReads(source, search, first));
  // The walk of events found too few with all values; walking further rarely fills a page, so segments are read.
  if (terms.length > 1 && !mayEndEarly) return readInOrder(source, search, listReads(source, search));
  const eventsMax = limits.walkedEvents - limits.firstWalkEvents;
  const walk = await walkEvents(source, search.after, { rowsMax, eventsMax });
  if (walk.end === undefined || walk.rows.length >= Math.min(rowsMax, limits.enoughRows)) return walk;
  const rest = { ...search, after: walk.end, rowsMax: rowsMax - walk.rows.length };
  const begun = mayEndEarly ? await walkFirst(source, rest) : undefined;
  const reads = begun === undefined ? listReads(source, rest) : walkReads(source, rest, begun);
  const found = await readInOrder(source, rest, reads);
  return { rows: [...walk.rows, ...found.rows], end: found.end };
}

/**
 * The same, when the space has few segments with all terms.
 *
 * @returns undefined when it has many: examining events in time order may be faster.
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
    // Only when the next page would begin later than this one: each page must make progress.
    const isNearer = restMs < (after?.startTimeMs ?? Number.POSITIVE_INFINITY);
    if (examined > source.limits.segmentEvents && isNearer && restMs !== Number.NEGATIVE_INFINITY) {
      return { rows: found.filter(({ startTimeMs }) => startTimeMs > restMs), end: beginningOf(restMs) };
    }
  }
  return { rows: found, end: undefined };
}

/** Segments whose events one statement reads. */
interface SegmentRead {
  readonly segments: readonly CandidateSegment[];
  /** Later segments have no event that starts after this time. */
  readonly restMs: number;
}

/** Lists all segments at once, since most values have few. @returns undefined when there are more than the limit. */
async function listFew<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: { terms: readonly bigint[]; after: EventCursor | undefined },
): Promise<Iterable<SegmentRead> | undefined> {
  const { filter, limits } = source;
  const fromMs = filter.from ?? Number.NEGATIVE_INFINITY;
  const all = await listCandidates(source, {
    terms,
    after,
    listed: undefined,
    segmentsMax: limits.segmentsAtOnce + 1,
    sortedMax: limits.segmentsAtOnce + 1,
  });
  return all.length <= limits.segmentsAtOnce ? divideReads(all, fromMs, readSizes(limits)) : undefined;
}

/** Candidates of the first walk: as many segments of a request fill a page. Segments of one event need more, so it doubles. */
const firstCandidates = 25;

/**
 * Examines the newest segments of the space.
 *
 * @returns undefined when all of them are newer than the position, as on a late page: examining segments up to it would take long.
 */
async function walkFirst<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: SegmentSearch,
): Promise<SegmentWalk | undefined> {
  const segmentsMax = source.limits.firstWalkSegments;
  const walk = await walkSegments(source, {
    terms,
    after,
    listed: undefined,
    segmentsMax,
    candidatesMax: firstCandidates,
  });
  return walk.end !== undefined && walk.end.maxStartMs > after.startTimeMs ? undefined : walk;
}

/**
 * Examines segments of the space in order of time before it lists those with the terms: where the terms are frequent, some of the next
 * segments have them, and listing all takes longer the more there are.
 */
async function* walkReads<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: SegmentSearch,
  first: SegmentWalk,
): AsyncGenerator<SegmentRead> {
  const { firstWalkSegments, walkedSegments, walkedSegmentEvents } = source.limits;
  const nextSize = readSizes(source.limits);
  let [walk, { examined, events }] = [first, first];
  let segmentsMax = firstWalkSegments;
  let candidatesMax = firstCandidates;
  for (;;) {
    const { end } = walk;
    yield* divideReads(
      walk.candidates,
      end?.maxStartMs ?? source.filter.from ?? Number.NEGATIVE_INFINITY,
      nextSize,
    );
    if (end === undefined) return;
    if (
      examined >= segmentsMax &&
      segmentsMax < walkedSegments &&
      (await areFrequent(source, { terms, after }))
    )
      segmentsMax = walkedSegments;
    if (examined >= segmentsMax || events >= walkedSegmentEvents) {
      yield* listReads(source, { terms, after }, end);
      return;
    }
    candidatesMax *= 2;
    walk = await walkSegments(source, {
      terms,
      after,
      listed: end,
      segmentsMax: segmentsMax - examined,
      candidatesMax,
    });
    examined += walk.examined;
    events += walk.events;
  }
}

/** Whether many segments of the week before the position have the terms, by their time of receipt. */
async function areFrequent<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: Pick<SegmentSearch, 'terms' | 'after'>,
): Promise<boolean> {
  // Within the times of a UUIDv7, whatever time an event has.
  const receivedSinceMs = Math.min(Math.max(0, Math.floor(after.startTimeMs) - 7 * dayMs), 2 ** 48 - 1);
  const segmentsMax = source.limits.segmentsAtOnce + 1;
  const query = { terms, after, receivedSinceMs, listed: undefined, segmentsMax, sortedMax: segmentsMax };
  return (await listCandidates(source, query)).length === segmentsMax;
}

/** Lists many segments, in bounded steps. */
async function* listReads<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: Pick<SegmentSearch, 'terms' | 'after'>,
  from?: SegmentPosition,
): AsyncGenerator<SegmentRead> {
  const { filter, limits } = source;
  const nextSize = readSizes(limits);
  const fromMs = filter.from ?? Number.NEGATIVE_INFINITY;
  const perList = { segmentsMax: limits.segmentsListed, sortedMax: everySegment };
  let listed = from;
  do {
    const list = await listCandidates(source, { terms, after, listed, ...perList });
    listed = list[limits.segmentsListed - 1];
    yield* divideReads(list, listed?.maxStartMs ?? fromMs, nextSize);
  } while (listed !== undefined);
}

/** A limit above the number of segments of any space. */
const everySegment = 2 ** 40;

/** Returns the event limit of each successive read. */
function readSizes({ firstReadEvents, eventsPerRead }: ListLimits): () => number {
  let size = firstReadEvents / 2;
  return () => {
    size = Math.min(2 * size, eventsPerRead);
    return size;
  };
}

/** @param restMs segments outside of the list have no event that starts after this time. */
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

/** The first segments to read together: at least one. */
function takeRead(segments: readonly CandidateSegment[], eventsMax: number): CandidateSegment[] {
  let eventCount = 0;
  const end = segments.findIndex((segment, at) => {
    eventCount += segment.eventCount;
    return at > 0 && eventCount > eventsMax;
  });
  return segments.slice(0, end === -1 ? undefined : end);
}
