import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { FoundText } from '../../../event/segment/find-text.ts';
import { events } from '../../../store/db/schema.ts';
import { type EventCursor, formatEventCursor } from '../../../store/read/event-cursor.ts';
import { type EventFilter, matchTime, matchValues } from '../../../store/read/event-filter.ts';
import { newestFirst } from '../../../store/read/event-position.ts';
import { readSegment } from '../../../store/segments/read.ts';
import { completeFilter } from '../charts/cost-rates.ts';
import { columnsFor, eventRow, showRows } from '../events/event-row.ts';
import type { SpaceData, SpaceRows } from '../space-data.ts';
import { listSearchedSegments, type SearchedSegment, sumLeftBytes } from './searched-segments.ts';

/** Limits of a page of a search, which continues on the next. */
const searchTimeMs = 1_000;
const searchBytesMax = 64 * 1024 * 1024;

/** Most events in a page of a search, after which no further segment is read. */
export const searchEventsMax = 100;

const searchSegmentsListed = 100;

export interface SearchQuery {
  /** A substring of the JSON values of an event, without JSON quotes and escapes. */
  text: string;
  matchCase: boolean;
  filter: EventFilter;
  cursor?: EventCursor | undefined;
  /** Found events after which no further segment is read. One segment may have more. */
  limit?: number | undefined;
  /** Attributes whose values are shown. */
  attributeKeys?: readonly string[] | undefined;
}

const foundEvent = eventRow
  .extend({
    /** The first place of the text, with up to 32 characters before and 120 after it, and `…` for more. */
    excerpt: z.object({
      /** `properties.llm.input.prompt`. */
      path: z.string(),
      before: z.string(),
      hit: z.string(),
      after: z.string(),
    }),
  })
  .meta({ id: 'FoundEvent' });
type FoundEvent = z.infer<typeof foundEvent>;

export const searchPage = z
  .object({
    /** Grouped by segment (a request's events), newest segments first. */
    events: z.array(foundEvent),
    /** Where the search continues; null when everything was searched. */
    nextCursor: z.string().nullable(),
    progress: z.object({
      segments: z.number(),
      bytes: z.number(),
      ms: z.number(),
      /** Bytes left, on the first page; null at the end, and on later pages. */
      leftBytes: z.number().nullable(),
      /** About how long they take, as fast as this page. */
      leftMs: z.number().nullable(),
      /** All events that start after this time were searched; null when everything was searched. */
      searchedUntilMs: z.number().nullable(),
    }),
  })
  .meta({ id: 'SearchPage' });
export type SearchPage = z.infer<typeof searchPage>;

/** Searches for a bounded time and number of bytes. A client ends the search by not asking for a page. */
export async function searchEvents(
  space: SpaceRows & Pick<SpaceData, 'searchLimiter' | 'searcher'>,
  query: SearchQuery,
  signal: AbortSignal | undefined,
): Promise<SearchPage> {
  const filter = await completeFilter(space, query.filter);
  return space.searchLimiter(() => searchPages(space, { ...query, filter }, signal));
}

async function searchPages(
  space: SpaceRows & Pick<SpaceData, 'searcher'>,
  { text, matchCase, filter, cursor, limit = searchEventsMax, attributeKeys = [] }: SearchQuery,
  signal: AbortSignal | undefined,
): Promise<SearchPage> {
  const { database, spaceId } = space;
  const startedAtMs = performance.now();
  const find = openFinder(space, { text, matchCase });
  const found: FoundEvent[] = [];
  let after = cursor;
  let segments = 0;
  let bytes = 0;
  const toPage = async (isEnd: boolean): Promise<SearchPage> => {
    const ms = performance.now() - startedAtMs;
    const left =
      isEnd || cursor !== undefined ? null : await sumLeftBytes(database, spaceId, { filter, after });
    return {
      events: found,
      nextCursor: isEnd || after === undefined ? null : formatEventCursor(after),
      progress: {
        ...{ segments, bytes, ms, leftBytes: left, leftMs: left && (left * ms) / bytes },
        searchedUntilMs: isEnd ? null : (after?.startTimeMs ?? null),
      },
    };
  };
  for (;;) {
    const listed = await listSearchedSegments(database, spaceId, {
      filter,
      after,
      limit: searchSegmentsListed,
    });
    for (const [place, segment] of listed.entries()) {
      // The first segment is always searched, so that each page makes progress.
      const isEnough =
        performance.now() > startedAtMs + searchTimeMs ||
        bytes + segment.rawBytes > searchBytesMax ||
        found.length >= limit;
      if (segments > 0 && (isEnough || signal?.aborted)) return toPage(false);
      const texts = await find(segment, listed[place + 1]);
      if (texts.length > 0)
        found.push(...(await readFound(space, { segment, texts, filter, attributeKeys })));
      segments += 1;
      bytes += segment.rawBytes;
      after = { startTimeMs: segment.maxStartMs, id: segment.id };
    }
    if (listed.length < searchSegmentsListed) return toPage(true);
  }
}

/** The thread searches a segment while the next one is read. */
function openFinder(
  { database, spaceId, searcher }: SpaceRows & Pick<SpaceData, 'searcher'>,
  wanted: { text: string; matchCase: boolean },
) {
  const started = new Map<string, Promise<FoundText[]>>();
  const findIn = async (id: string): Promise<FoundText[]> => {
    const body = await readSegment(database, spaceId, id);
    return body === undefined ? [] : await searcher.find(body, wanted);
  };
  const start = ({ id }: SearchedSegment) => {
    const texts = started.get(id) ?? findIn(id);
    texts.catch(() => {});
    started.set(id, texts);
    return texts;
  };
  return async (segment: SearchedSegment, next: SearchedSegment | undefined): Promise<FoundText[]> => {
    const texts = start(segment);
    if (next !== undefined) void start(next);
    const found = await texts;
    started.delete(segment.id);
    return found;
  };
}

interface FoundQuery extends Pick<SearchQuery, 'filter'> {
  segment: SearchedSegment;
  texts: readonly FoundText[];
  attributeKeys: readonly string[];
}

/** The events with these texts in a segment that match the filter. */
async function readFound(
  { database, spaceId }: SpaceRows,
  { segment, texts, filter, attributeKeys }: FoundQuery,
): Promise<FoundEvent[]> {
  const byIndex = new Map(texts.map(({ index, excerpt }) => [index, excerpt]));
  const rows = await database
    .select({ ...columnsFor(attributeKeys), segmentIndex: events.segmentIndex })
    .from(events)
    .where(
      and(
        eq(events.spaceId, spaceId),
        eq(events.segmentId, segment.id),
        sql`${events.segmentIndex} = ANY (${`{${[...byIndex.keys()].join(',')}}`}::integer[])`,
        matchTime(filter),
        matchValues(filter),
      ),
    )
    .orderBy(...newestFirst());
  const byId = new Map(rows.map(({ id, segmentIndex }) => [id, byIndex.get(segmentIndex)]));
  const shown = await showRows({ database, spaceId }, rows, attributeKeys);
  return shown.flatMap((event) => {
    const excerpt = byId.get(event.id);
    return excerpt === undefined ? [] : [{ ...event, excerpt }];
  });
}
