import type { Database } from '../../../lib/db/database.ts';
import type { Limiter } from '../../../lib/limiter.ts';
import { wasEventStored } from '../../../lib/read/event-existence.ts';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { type ErrorGroups, readErrorGroups } from './error-groups.ts';
import { type EventList, type EventListQuery, listEvents } from './event-list.ts';
import {
  type ExportedEvent,
  exportEvents,
  exportTexts,
  exportWholeEvents,
  type WholeExportedEvent,
} from './export-rows.ts';
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
}

export function openEventReader({ database, openingLimiter }: SharedReader, spaceId: string): EventReader {
  return {
    list: (query) => listEvents(database, spaceId, query),
    top: (query) => readTopEvents(database, spaceId, query),
    errorGroups: (filter) => readErrorGroups(database, spaceId, filter),
    get: (id) => openingLimiter(() => readWholeEvent(database, spaceId, id)),
    wasStored: (id) => wasEventStored(database, spaceId, id),
    neighbours: (id, filter) => readNeighbours(database, spaceId, { id, filter }),
    exportEvents: (filter) => exportEvents(database, spaceId, filter),
    exportTexts: (filter) => exportTexts({ database, openingLimiter }, spaceId, filter),
    exportWholeEvents: (filter) => exportWholeEvents({ database, openingLimiter }, spaceId, filter),
  };
}
