import { eq } from 'drizzle-orm';
import { type BillingState, readUsage, type Usage } from '../../lib/access/spaces.ts';
import type { Database, Sql } from '../../lib/db/connect.ts';
import { spaces } from '../../lib/db/schema.ts';
import { type EventPage, type EventQuery, readEventPage } from './event-page.ts';
import type { Gate } from './gate.ts';
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
  readUsage(): Promise<CurrentUsage | undefined>;
}

/** This month's usage, and whether the space may ingest at all. */
export interface CurrentUsage extends Usage {
  billingState: BillingState;
}

/** Where a door leads. Drizzle changes the parsers of its pool, so plain SQL has one of its own. */
export interface Store {
  sql: Sql;
  database: Database;
  /** Bounds how many events are opened at a time, over all spaces. */
  openingGate: Gate;
}

export function openSpaceDoor({ sql, database, openingGate }: Store, spaceId: string): SpaceDoor {
  return {
    spaceId,
    listEvents: (query) => readEventPage(sql, spaceId, query),
    readEvent: (id) => openingGate(() => readWholeEvent(sql, spaceId, id)),
    readUsage: () => readCurrentUsage(database, spaceId),
  };
}

async function readCurrentUsage(database: Database, spaceId: string): Promise<CurrentUsage | undefined> {
  const [usage, [space]] = await Promise.all([
    readUsage(database, spaceId),
    database.select({ billingState: spaces.billingState }).from(spaces).where(eq(spaces.id, spaceId)),
  ]);
  return usage && space ? { ...usage, ...space } : undefined;
}
