import type { Limiter } from '../../../platform/limiter.ts';
import type { Database } from '../../../store/db/database.ts';
import { wasEventStored } from '../../../store/read/event-existence.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import type { OpenBytes } from '../../../store/segments/open-segments.ts';
import { withCostRates } from '../charts/cost-rates.ts';
import { type ErrorGroups, readErrorGroups } from './error-groups.ts';
import { type EventList, type EventListQuery, listEvents } from './event-list.ts';
import {
  type ExportedEvent,
  exportEvents,
  exportTexts,
  exportWholeEvents,
  type WholeExportedEvent,
} from './export-rows.ts';
import { type FieldValueQuery, type FieldValues, readFieldValues } from './field-values.ts';
import { type EventNeighbours, readNeighbours } from './neighbours.ts';
import { readTopEvents, type TopEvents, type TopQuery } from './top-events.ts';
import { readWholeEvent, type WholeEvent } from './whole-event.ts';

/** Reads the events of one space. */
export interface EventReader {
  list(query: EventListQuery): Promise<EventList>;
  top(query: TopQuery): Promise<TopEvents>;
  errorGroups(filter: EventFilter): Promise<ErrorGroups>;
  /** @returns undefined when the space has no such event. */
  get(id: string): Promise<WholeEvent | undefined>;
  /** Whether the space ever stored this event; it has expired or was erased if `get` does not find it. */
  wasStored(id: string): Promise<boolean>;
  /** @returns undefined when the space has no such event. */
  neighbours(id: string, filter: EventFilter): Promise<EventNeighbours | undefined>;
  /** Values that complete what is typed. */
  values(query: FieldValueQuery): Promise<FieldValues>;
  /** Yields all events of a filter, in pages. */
  exportEvents(filter: EventFilter): AsyncGenerator<ExportedEvent[]>;
  /** Yields the same events as sent, one line of JSON each. */
  exportTexts(filter: EventFilter): AsyncGenerator<string[]>;
  /** Yields both. */
  exportWholeEvents(filter: EventFilter): AsyncGenerator<WholeExportedEvent[]>;
}

/** Dependencies shared by the readers of all spaces. */
export interface SharedReader {
  database: Database;
  /** Limits how many events are opened concurrently over all spaces, fairly between users. */
  openingLimiter: Limiter;
  /** Limits concurrent searches in the same way. */
  searchLimiter: Limiter;
  /** Limits the segments that exports keep open. */
  openBytes: OpenBytes;
}

export function openEventReader(shared: SharedReader, spaceId: string): EventReader {
  const { database, openingLimiter, openBytes } = shared;
  const segmentSource = { database, spaceId, limiter: openingLimiter, openBytes };
  const priced = <Filter extends EventFilter>(filter: Filter) => withCostRates(database, spaceId, filter);
  return {
    list: async (query) => listEvents(database, spaceId, await priced(query)),
    top: async (query) => readTopEvents(database, spaceId, { ...query, filter: await priced(query.filter) }),
    errorGroups: async (filter) => readErrorGroups(database, spaceId, await priced(filter)),
    get: (id) => openingLimiter(() => readWholeEvent(database, spaceId, id)),
    wasStored: (id) => wasEventStored(database, spaceId, id),
    neighbours: async (id, filter) => readNeighbours(database, spaceId, { id, filter: await priced(filter) }),
    values: (query) => readFieldValues(database, spaceId, query),
    async *exportEvents(filter) {
      yield* exportEvents(database, spaceId, await priced(filter));
    },
    async *exportTexts(filter) {
      yield* exportTexts(segmentSource, await priced(filter));
    },
    async *exportWholeEvents(filter) {
      yield* exportWholeEvents(segmentSource, await priced(filter));
    },
  };
}
