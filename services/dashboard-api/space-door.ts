import { readUsage, type Usage } from '../../lib/access/usage.ts';
import type { Sql } from '../../lib/db/connect.ts';
import type { Gate } from '../../lib/gate.ts';
import { type EventPage, type EventQuery, readEventPage } from './event-page.ts';
import { readWholeEvent, type WholeEvent } from './whole-event.ts';

/**
 * The one way from a call to a space's data. It is opened for a member of the space and holds the space's id, so no
 * call can ask for another space by mistake: what is not behind this door, procedures cannot reach.
 */
export interface SpaceDoor {
  readonly spaceId: string;
  listEvents(query: EventQuery): Promise<EventPage>;
  /** @returns undefined when the space has no such event. */
  readEvent(id: string): Promise<WholeEvent | undefined>;
  /** @returns undefined when the space was removed meanwhile. */
  readUsage(): Promise<Usage | undefined>;
}

/** Where a door leads. */
export interface Store {
  sql: Sql;
  /** Bounds how many events are opened at a time, over all spaces. */
  openingGate: Gate;
}

export function openSpaceDoor({ sql, openingGate }: Store, spaceId: string): SpaceDoor {
  return {
    spaceId,
    listEvents: (query) => readEventPage(sql, spaceId, query),
    readEvent: (id) => openingGate(() => readWholeEvent(sql, spaceId, id)),
    readUsage: () => readUsage(sql, spaceId),
  };
}
