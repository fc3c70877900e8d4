import { and, eq, inArray } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { replayedEvents } from '../db/schema.ts';
import { tracesPerStatement } from './limits.ts';
import { resolveTraces } from './resolve-traces.ts';

/**
 * Resolves the traces of events that were replayed from the quarantine: their traces were resolved without them. A writer does it, because
 * the dashboard, which replays them, cannot change stored events.
 */
export async function resolveReplayed(database: Database): Promise<void> {
  for (let found = tracesPerStatement; found === tracesPerStatement; ) {
    const rows = await database.select().from(replayedEvents).limit(tracesPerStatement);
    found = rows.length;
    for (const [spaceId, own] of Map.groupBy(rows, (row) => row.spaceId)) {
      const eventIds = own.map((row) => row.eventId);
      const traceIds = [...new Set(own.map((row) => row.traceId))];
      await resolveTraces(database, spaceId, {
        unresolved: traceIds,
        withResponse: [],
        replayedIds: new Set(eventIds),
      });
      await database
        .delete(replayedEvents)
        .where(and(eq(replayedEvents.spaceId, spaceId), inArray(replayedEvents.eventId, eventIds)));
    }
  }
}
