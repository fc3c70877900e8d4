import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import { type EventFilter, matchTime, matchValues } from '../../../store/read/event-filter.ts';
import { newestFirst } from '../../../store/read/event-position.ts';
import { readSegment } from '../../../store/segments/read.ts';
import { completeFilter } from '../charts/cost-rates.ts';
import { columnsFor, type EventRow, eventRow, showRows } from '../events/event-row.ts';
import { searchBytesMax, searchEventsMax, searchSegmentsListed, searchTimeMs } from '../limits.ts';
import type { SpaceData, SpaceRows } from '../space-data.ts';
import { formatSearchCursor, type SearchCursor } from './search-cursor.ts';
import { listSearchedSegments, type SearchedSegment, sumLeftBytes } from './searched-segments.ts';

export interface SearchQuery {
  /** A substring of the JSON values of an event, without JSON quotes and escapes. */
  text: string;
  matchCase: boolean;
  filter: EventFilter;
  cursor?: SearchCursor | undefined;
  /** Attributes whose values are shown. */
  attributeKeys?: readonly string[] | undefined;
}

export const searchPage = z
  .object({
    /** Grouped by segment (a request's events), newest segments first. */
    events: z.array(eventRow),
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
  { database, spaceId, searcher }: SpaceRows & Pick<SpaceData, 'searcher'>,
  { text, matchCase, filter, cursor, attributeKeys = [] }: SearchQuery,
  signal: AbortSignal | undefined,
): Promise<SearchPage> {
  const startedAtMs = performance.now();
  const started = new Map<string, Promise<number[]>>();
  // The thread searches a segment while the next one is read.
  const find = ({ id }: SearchedSegment) => {
    const indexes = started.get(id) ?? findIn({ database, spaceId, searcher }, id, { text, matchCase });
    indexes.catch(() => {});
    started.set(id, indexes);
    return indexes;
  };
  const found: EventRow[] = [];
  let after = cursor;
  let segments = 0;
  let bytes = 0;
  const toPage = async (isEnd: boolean): Promise<SearchPage> => {
    const ms = performance.now() - startedAtMs;
    const left =
      isEnd || cursor !== undefined ? null : await sumLeftBytes(database, spaceId, { filter, after });
    return {
      events: found,
      nextCursor: isEnd || after === undefined ? null : formatSearchCursor(after),
      progress: {
        ...{ segments, bytes, ms, leftBytes: left, leftMs: left && (left * ms) / bytes },
        searchedUntilMs: isEnd ? null : (after?.maxStartMs ?? null),
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
        found.length >= searchEventsMax;
      if (segments > 0 && (isEnough || signal?.aborted)) return toPage(false);
      const current = find(segment);
      const next = listed[place + 1];
      if (next !== undefined) void find(next);
      const indexes = await current;
      started.delete(segment.id);
      if (indexes.length > 0)
        found.push(...(await readFound(database, spaceId, { segment, indexes, filter, attributeKeys })));
      segments += 1;
      bytes += segment.rawBytes;
      after = { maxStartMs: segment.maxStartMs, id: segment.id };
    }
    if (listed.length < searchSegmentsListed) return toPage(true);
  }
}

async function findIn(
  { database, spaceId, searcher }: SpaceRows & Pick<SpaceData, 'searcher'>,
  segmentId: string,
  wanted: { text: string; matchCase: boolean },
): Promise<number[]> {
  const body = await readSegment(database, spaceId, segmentId);
  return body === undefined ? [] : await searcher.find(body, wanted);
}

/** The events with these indexes in a segment that match the filter. */
async function readFound(
  database: Database,
  spaceId: string,
  {
    segment,
    indexes,
    filter,
    attributeKeys,
  }: {
    segment: SearchedSegment;
    indexes: readonly number[];
    filter: EventFilter;
    attributeKeys: readonly string[];
  },
): Promise<EventRow[]> {
  const rows = await database
    .select(columnsFor(attributeKeys))
    .from(events)
    .where(
      and(
        eq(events.spaceId, spaceId),
        eq(events.segmentId, segment.id),
        sql`${events.segmentIndex} = ANY (${`{${indexes.join(',')}}`}::integer[])`,
        matchTime(filter),
        matchValues(filter),
      ),
    )
    .orderBy(...newestFirst());
  return await showRows(database, spaceId, rows, attributeKeys);
}
