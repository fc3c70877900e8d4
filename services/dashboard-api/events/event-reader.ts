import type { Database } from '../../../lib/db/database.ts';
import type { Limiter } from '../../../lib/limiter.ts';
import { wasEventStored } from '../../../lib/read/event-existence.ts';
import type { EventFilter } from '../../../lib/read/event-filter.ts';
import { type EventList, type EventListQuery, listEvents } from './event-list.ts';
import { type ExportedEvent, exportEvents, exportTexts } from './export-rows.ts';
import { type EventNeighbours, readNeighbours } from './neighbours.ts';
import { readWholeEvent, type WholeEvent } from './whole-event.ts';

/** Reads the events of one space. */
export interface EventReader {
  list(query: EventListQuery): Promise<EventList>;
  /** @returns undefined when the space has no such event. */
  get(id: string): Promise<WholeEvent | undefined>;
  /** Whether the space ever stored such an event, which has expired or was erased if `get` does not find it. */
  wasStored(id: string): Promise<boolean>;
  /** @returns undefined when the space has no such event. */
  neighbours(id: string, filter: EventFilter): Promise<EventNeighbours | undefined>;
  /** All events of a filter, a page at a time. */
  exportEvents(filter: EventFilter): AsyncGenerator<ExportedEvent[]>;
  /** The same, as they were sent, a line of JSON each. */
  exportTexts(filter: EventFilter): AsyncGenerator<string[]>;
}

/** What the readers of all spaces share. */
export interface SharedReader {
  database: Database;
  /** Bounds how many events are opened concurrently, over all spaces, with turns for the user. */
  openingLimiter: Limiter;
  /** Bounds how many searches run concurrently, likewise. */
  searchLimiter: Limiter;
}

export function openEventReader({ database, openingLimiter }: SharedReader, spaceId: string): EventReader {
  return {
    list: (query) => listEvents(database, spaceId, query),
    get: (id) => openingLimiter(() => readWholeEvent(database, spaceId, id)),
    wasStored: (id) => wasEventStored(database, spaceId, id),
    neighbours: (id, filter) => readNeighbours(database, spaceId, { id, filter }),
    exportEvents: (filter) => exportEvents(database, spaceId, filter),
    exportTexts: (filter) => exportTexts({ database, openingLimiter }, spaceId, filter),
  };
}
