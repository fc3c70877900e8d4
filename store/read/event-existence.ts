import { and, eq } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { eventIds, events } from '../db/schema.ts';

/** Whether an event is currently stored. */
export async function isEventStored(database: Database, spaceId: string, id: string): Promise<boolean> {
  const rows = await database
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), eq(events.id, id)))
    .prepare('event_existence')
    .execute();
  return rows.length > 0;
}

/** Whether an event was ever stored: the ledger keeps the ids of expired and erased events. */
export async function wasEventStored(database: Database, spaceId: string, id: string): Promise<boolean> {
  const rows = await database
    .select({ id: eventIds.id })
    .from(eventIds)
    .where(and(eq(eventIds.spaceId, spaceId), eq(eventIds.id, id)))
    .prepare('event_known')
    .execute();
  return rows.length > 0;
}
