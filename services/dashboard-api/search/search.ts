import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { findTextInSegment, wantedText } from '../../../event/segment/find-text.ts';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import { type EventFilter, matchTime, matchValues } from '../../../store/read/event-filter.ts';
import { newestFirst } from '../../../store/read/event-position.ts';
import { readSegment } from '../../../store/segments/read.ts';
import { withCostRates } from '../charts/cost-rates.ts';
import { type ListedEvent, listedColumns, listedEvent, showEvents } from '../events/listed-event.ts';
import { searchBytesMax, searchEventsMax, searchSegmentsListed, searchTimeMs } from '../limits.ts';
import type { SpaceData, SpaceRows } from '../space-data.ts';
import { formatSearchCursor, type SearchCursor } from './search-cursor.ts';
import { listSearchedSegments, type SearchedSegment } from './searched-segments.ts';

export interface SearchQuery {
  /** A substring of the JSON values of an event, without JSON quotes and escapes. */
  text: string;
  matchCase: boolean;
  filter: EventFilter;
  cursor?: SearchCursor | undefined;
}

export const searchPage = z
  .object({
    /** The matching events, grouped by segment (a request's events), newest segments first. */
    events: z.array(listedEvent),
    /** Where the search continues; null when everything was searched. */
    nextCursor: z.string().nullable(),
    /** What this page has searched. */
    progress: z.object({
      segments: z.number(),
      bytes: z.number(),
      /** All events that start after this time were searched; null when everything was searched. */
      searchedUntilMs: z.number().nullable(),
    }),
  })
  .meta({ id: 'SearchPage' });
export type SearchPage = z.infer<typeof searchPage>;

/**
 * Searches a text in the payloads of events, for a bounded time and number of bytes. Each page continues where the previous one ended;
 * a client stops by not requesting the next page, or by aborting.
 */
export async function searchEvents(
  space: SpaceRows & Pick<SpaceData, 'searchLimiter'>,
  query: SearchQuery,
  signal: AbortSignal | undefined,
): Promise<SearchPage> {
  const filter = await withCostRates(space, query.filter);
  return space.searchLimiter(() => searchPages(space, { ...query, filter }, signal));
}

async function searchPages(
  { database, spaceId }: SpaceRows,
  { text, matchCase, filter, cursor }: SearchQuery,
  signal: AbortSignal | undefined,
): Promise<SearchPage> {
  const wanted = wantedText(text, matchCase);
  const endAtMs = performance.now() + searchTimeMs;
  const found: ListedEvent[] = [];
  let after = cursor;
  let segments = 0;
  let bytes = 0;
  const toPage = (isEnd: boolean): SearchPage => ({
    events: found,
    nextCursor: isEnd || after === undefined ? null : formatSearchCursor(after),
    progress: { segments, bytes, searchedUntilMs: isEnd ? null : (after?.maxStartMs ?? null) },
  });
  for (;;) {
    const listed = await listSearchedSegments(database, spaceId, {
      filter,
      after,
      limit: searchSegmentsListed,
    });
    for (const segment of listed) {
      // The first segment is always searched, so that each page makes progress.
      const isEnough =
        performance.now() > endAtMs ||
        bytes + segment.rawBytes > searchBytesMax ||
        found.length >= searchEventsMax;
      if (segments > 0 && (isEnough || signal?.aborted)) return toPage(false);
      const body = await readSegment(database, spaceId, segment.id);
      const indexes = body === undefined ? [] : findTextInSegment(body, wanted);
      if (indexes.length > 0)
        found.push(...(await readFound(database, spaceId, { segment, indexes, filter })));
      segments += 1;
      bytes += segment.rawBytes;
      after = { maxStartMs: segment.maxStartMs, id: segment.id };
    }
    if (listed.length < searchSegmentsListed) return toPage(true);
  }
}

/** The events with these indexes in a segment that match the filter. */
async function readFound(
  database: Database,
  spaceId: string,
  { segment, indexes, filter }: { segment: SearchedSegment; indexes: readonly number[]; filter: EventFilter },
): Promise<ListedEvent[]> {
  const rows = await database
    .select(listedColumns)
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
  return await showEvents(database, spaceId, rows);
}
