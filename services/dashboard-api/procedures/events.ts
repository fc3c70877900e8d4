import type { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { parseEventCursor } from '../../../store/read/event-cursor.ts';
import { wasEventStored } from '../../../store/read/event-existence.ts';
import { histogram, readHistogram } from '../charts/histogram.ts';
import { errorGroups, readErrorGroups } from '../events/error-groups.ts';
import { eventList, listEvents } from '../events/event-list.ts';
import { facets, readFacets } from '../events/facets.ts';
import { eventNeighbours, readNeighbours } from '../events/neighbours.ts';
import { facetField, facetFieldsMax } from '../events/newest-facets.ts';
import { readTopEvents, topEvents } from '../events/top-events.ts';
import { readWholeEvent, wholeEvent } from '../events/whole-event.ts';
import { eventCursor, eventFilter, parsedText, sealFilter, timeMs } from '../filter-input.ts';
import { eventsPageDefault, eventsPageMax } from '../limits.ts';
import { refusal } from '../refusal.ts';
import { searchEvents, searchEventsMax, searchPage } from '../search/search.ts';
import type { SpaceRows } from '../space-data.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

/** Additional properties that a list shows as columns: more do not fit beside the others. */
const attributeColumnsMax = 5;

/** Buckets of a histogram. Without statistics for its filter, each is estimated by reading events. */
const histogramBucketsDefault = 60;
const histogramBucketsMax = 120;

const searchTextCharsMax = 1_000;

/** Attributes whose values each event is returned with. */
const attributeKeys = z.array(z.string().min(1).max(256)).max(attributeColumnsMax).optional();

const page = z
  .object({
    ...eventFilter,
    attributeKeys,
    limit: z.int().min(1).max(eventsPageMax).default(eventsPageDefault),
    cursor: eventCursor.optional(),
  })
  .prefault({});

const histogramInput = z.object({
  ...eventFilter,
  /** Default: the first event in the space's statistics, at most five years before `to`. */
  from: timeMs.optional(),
  to: timeMs,
  buckets: z.int().min(2).max(histogramBucketsMax).default(histogramBucketsDefault),
});

const search = z.object({
  ...eventFilter,
  attributeKeys,
  payload: z.string().min(1).max(searchTextCharsMax),
  matchCase: z.boolean().default(false),
  /** A page ends with the request in which so many were found. */
  limit: z.int().min(1).max(searchEventsMax).default(searchEventsMax),
  cursor: parsedText(parseEventCursor, 'must be a nextCursor of this search').optional(),
});

const facetsInput = z.object({
  ...eventFilter,
  fields: z.array(facetField).min(1).max(facetFieldsMax),
  /** The beginning of the values, ignoring case. */
  prefix: z.string().max(256).default(''),
});

const neighbours = z.object({ ...eventFilter, id: z.guid().toLowerCase() });

export const events = router({
  /** Lists events, newest start first. `to` is excluded. A page may be incomplete: see EventList. */
  list: spaceProcedure('viewer')
    .input(page)
    .output(eventList)
    .query(({ ctx, input }) => listEvents(ctx.space, input)),

  /** The slowest, largest or most expensive of a filter's newest 5,000 events: no index has these orders. */
  top: spaceProcedure('viewer')
    .input(
      z.object({
        ...eventFilter,
        attributeKeys,
        by: z.enum(['duration', 'tokens', 'cost']),
        limit: z.int().min(1).max(eventsPageMax).default(eventsPageDefault),
      }),
    )
    .output(topEvents)
    .query(({ ctx, input: { spaceId: _space, by, limit, attributeKeys = [], ...filter } }) =>
      readTopEvents(ctx.space, { by, limit, filter, attributeKeys }),
    ),

  /** The newest 1,000 errors of a filter, counted by message; numbers and ids in messages are ignored. */
  errors: spaceProcedure('viewer')
    .input(z.object(eventFilter).prefault({}))
    .output(errorGroups)
    .query(({ ctx, input: { spaceId: _space, ...filter } }) => readErrorGroups(ctx.space, filter)),

  /** Columns, and the JSON text exactly as sent. NOT_FOUND's message says whether it was stored before. */
  get: spaceProcedure('viewer')
    .input(z.object({ id: z.guid() }))
    .output(wholeEvent)
    .query(async ({ ctx, input }) => {
      const event = await readWholeEvent(ctx.space, input.id);
      if (event !== undefined) return event;
      throw await notFound(ctx.space, input.id);
    }),

  /** Counts events over time: see Histogram. `from` is by default the space's first, within five years. */
  histogram: spaceProcedure('viewer', { isStatistics: true })
    .input(histogramInput)
    .output(histogram)
    .query(({ ctx, input: { spaceId: _space, buckets, ...filter } }) =>
      readHistogram(ctx.space, { filter, bucketsMax: buckets }),
    ),

  /** Searches payloads, newest first, for about a second; goes on at `nextCursor`. Aborting stops it. */
  search: spaceProcedure('viewer')
    .input(search)
    .output(searchPage)
    .query(
      ({
        ctx,
        input: { spaceId: _space, payload, matchCase, limit, cursor, attributeKeys, ...filter },
        signal,
      }) =>
        searchEvents(ctx.space, { text: payload, matchCase, limit, cursor, filter, attributeKeys }, signal),
    ),

  /**
   * Counts the events of a filter by the values of fields, each without the conditions on the field itself;
   * `prefix` completes a value. Counts are exact or of the newest 5,000 events: see Facet.
   */
  facets: spaceProcedure('viewer')
    .input(facetsInput)
    .output(facets)
    .query(({ ctx, input: { spaceId: _space, fields, prefix, ...filter } }) =>
      readFacets(ctx.space, { fields, prefix, filter }),
    ),

  /** Events beside an event: in the filter's list, which it need not match, its thread, and its trace. */
  neighbours: spaceProcedure('viewer')
    .input(neighbours)
    .output(eventNeighbours)
    .query(async ({ ctx, input: { id, ...filter } }) => {
      const found = await readNeighbours(ctx.space, { id, filter });
      if (found !== undefined) return found;
      throw await notFound(ctx.space, id);
    }),

  /** The filter for an address, for `live.tail` and `/export/`: only Weir can read it. */
  sealFilter: spaceProcedure('viewer')
    .input(z.object(eventFilter).prefault({}))
    .output(z.object({ sealed: z.string() }))
    .query(({ ctx, input }) => {
      const { spaceId, ...filter } = input as typeof input & { spaceId?: string };
      return { sealed: sealFilter(ctx.filterSeal, ctx.space.spaceId, filter) };
    }),
});

async function notFound({ database, spaceId }: SpaceRows, id: string): Promise<TRPCError> {
  const message = (await wasEventStored(database, spaceId, id))
    ? 'The event was stored, and has expired or was erased.'
    : 'There is no such event.';
  return refusal('NOT_FOUND', message);
}
