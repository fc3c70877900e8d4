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

export interface SegmentSearch {
  readonly terms: readonly bigint[];
  /** The end of what was read before. */
  readonly after: EventCursor | undefined;
  readonly rowsMax: number;
}

/** Segments whose events one statement reads. */
export interface SegmentRead {
  readonly segments: readonly CandidateSegment[];
  /** Later segments have no event that starts after this time. */
  readonly restMs: number;
}

export type SegmentReads = Iterable<SegmentRead> | AsyncIterable<SegmentRead>;

/** Reads segments by latest start time until none can have a newer event than those found. */
export async function readSegments<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { after, rowsMax }: Pick<SegmentSearch, 'after' | 'rowsMax'>,
  reads: SegmentReads,
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

/** Lists all segments, since most values have few. @returns undefined when there are too many. */
export async function listFewSegments<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: Pick<SegmentSearch, 'terms' | 'after'>,
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

/** Candidates of the first walk, which fill a page unless segments have one event: so it doubles. */
const firstCandidates = 25;

/**
 * Examines a space's newest segments. @returns undefined when all are newer than the position, as on a late
 * page.
 */
export async function walkNewestSegments<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: SegmentSearch,
): Promise<SegmentWalk | undefined> {
  const segmentsMax = source.limits.firstWalkSegments;
  const limits = { segmentsMax, candidatesMax: firstCandidates };
  const walk = await walkSegments(source, { terms, after, listed: undefined, ...limits });
  const afterMs = after?.startTimeMs ?? Number.POSITIVE_INFINITY;
  return walk.end !== undefined && walk.end.maxStartMs > afterMs ? undefined : walk;
}

/**
 * Examines segments of the space in order of time: where the terms are frequent, some of the next segments
 * have them, and listing all takes longer the more there are.
 * @returns where the walk ended at its limit: the segments from there have to be listed. Undefined at the end
 * of the space.
 */
export async function* walkSegmentReads<Columns extends EventColumns>(
  source: EventSource<Columns>,
  { terms, after }: SegmentSearch,
  first: SegmentWalk,
): AsyncGenerator<SegmentRead, SegmentPosition | undefined> {
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
    if (end === undefined) return undefined;
    const isExtended = segmentsMax === walkedSegments;
    if (examined >= segmentsMax && !isExtended && (await areFrequent(source, { terms, after })))
      segmentsMax = walkedSegments;
    if (examined >= segmentsMax || events >= walkedSegmentEvents) return end;
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
  const fromMs = Math.floor(after?.startTimeMs ?? Number.POSITIVE_INFINITY) - 7 * dayMs;
  const receivedSinceMs = Math.min(Math.max(0, fromMs), 2 ** 48 - 1);
  const segmentsMax = source.limits.segmentsAtOnce + 1;
  const query = { terms, after, receivedSinceMs, listed: undefined, segmentsMax, sortedMax: segmentsMax };
  return (await listCandidates(source, query)).length === segmentsMax;
}

/** Lists many segments, in bounded steps. */
export async function* listSegments<Columns extends EventColumns>(
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
