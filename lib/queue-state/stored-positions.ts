import { sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { queuePositions } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import type { StreamState } from './stream-state.ts';

/** How far a stream was stored at the time to which this database was restored. */
export type StoredPosition = typeof queuePositions.$inferSelect;

/**
 * Records how far a stream is stored. A message is acknowledged after the COMMIT of its events, and the state was read before
 * this statement: so a database that has this row has the events of every message up to it.
 */
export async function keepStoredPosition(database: Database, state: StreamState): Promise<void> {
  const { createdAt, storedUpTo, updatedAt } = queuePositions;
  const { stream } = state;
  await database
    .insert(queuePositions)
    .values({
      stream: stream.name,
      createdAt: state.createdAt,
      storedUpTo: state.storedUpTo,
      updatedAt: sql`clock_timestamp()`,
    })
    .onConflictDoUpdate({
      target: queuePositions.stream,
      set: Object.fromEntries(
        Object.entries({ createdAt, storedUpTo, updatedAt }).map(([name, column]) => [
          name,
          sql`excluded.${nameOf(column)}`,
        ]),
      ),
    });
}

export async function readStoredPositions(database: Database): Promise<StoredPosition[]> {
  return database.select().from(queuePositions);
}
