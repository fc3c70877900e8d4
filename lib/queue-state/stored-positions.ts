import { gt, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { queuePositions } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import type { StreamState } from './stream-state.ts';

/** How far a stream was stored at the time to which this database was restored. */
export type StoredPosition = typeof queuePositions.$inferSelect;

type Values = typeof queuePositions.$inferInsert;

/**
 * Records how far a stream is stored. A message is acknowledged after the COMMIT of its events, and the state was read before
 * this statement: so a database that has this row has the events of every message up to it.
 */
export async function keepStoredPosition(
  database: Database,
  { stream, createdAt, storedUpTo }: StreamState,
  windowMs: number,
): Promise<void> {
  const { createdAt: keptCreatedAt, replayUpTo } = queuePositions;
  const values = { stream: stream.name, createdAt, storedUpTo, windowMs: Math.round(windowMs) };
  // Another stream of the same name has other messages under these sequences.
  const isSame = sql`${keptCreatedAt} = excluded.${nameOf(keptCreatedAt)}`;
  await keepPosition(database, values, sql`CASE WHEN ${isSame} THEN ${replayUpTo} ELSE 0 END`);
}

/** Records that messages up to the last one of now are delivered again, from a sequence on. */
export async function keepReplay(
  database: Database,
  { stream, createdAt, lastSequence }: StreamState,
  { fromSequence, windowMs }: { fromSequence: number; windowMs: number },
): Promise<void> {
  const values = { stream: stream.name, createdAt, storedUpTo: fromSequence - 1, windowMs };
  await keepPosition(database, { ...values, replayUpTo: lastSequence }, sql`${lastSequence}`);
}

export async function readStoredPositions(database: Database): Promise<StoredPosition[]> {
  return database.select().from(queuePositions);
}

/** For each stream, the sequence up to which a replay delivers messages again. Known events in them are no repeats of clients. */
export async function readReplays(database: Database): Promise<ReadonlyMap<string, number>> {
  const { stream, replayUpTo } = queuePositions;
  const rows = await database
    .select({ stream, replayUpTo })
    .from(queuePositions)
    .where(gt(replayUpTo, 0))
    .catch(() => []);
  return new Map(rows.map((row) => [row.stream, row.replayUpTo]));
}

async function keepPosition(
  database: Database,
  values: Omit<Values, 'updatedAt'>,
  replayUpTo: SQL,
): Promise<void> {
  const { createdAt, storedUpTo, windowMs, updatedAt, stream } = queuePositions;
  const written = Object.entries({ createdAt, storedUpTo, windowMs, updatedAt });
  await database
    .insert(queuePositions)
    .values({ ...values, updatedAt: sql`clock_timestamp()` })
    .onConflictDoUpdate({
      target: stream,
      set: {
        ...Object.fromEntries(written.map(([name, column]) => [name, sql`excluded.${nameOf(column)}`])),
        replayUpTo,
      },
    });
}
