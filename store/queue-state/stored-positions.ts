import { gt, sql } from 'drizzle-orm';
import { pick } from '../../platform/pick.ts';
import type { Database } from '../db/database.ts';
import { queuePositions } from '../db/schema.ts';
import { excluded, excludedOf } from '../db/statement.ts';
import type { StreamState } from './stream-state.ts';

/** How far a stream was stored at the time to which this database was restored. */
export type StoredPosition = typeof queuePositions.$inferSelect;

/**
 * Records a state read before the statement: messages are acknowledged after COMMIT, so all up to it are
 * stored.
 */
export async function recordStoredPosition(
  database: Database,
  state: StreamState,
  windowMs: number,
): Promise<void> {
  const { stream, createdAt } = state;
  const { createdAt: keptCreatedAt, replayUpTo } = queuePositions;
  await database
    .insert(queuePositions)
    .values({
      stream: stream.name,
      createdAt,
      storedUpTo: state.storedUpTo,
      windowMs: Math.round(windowMs),
      updatedAt: sql`clock_timestamp()`,
    })
    .onConflictDoUpdate({
      target: queuePositions.stream,
      set: {
        ...excludedOf(pick(queuePositions, 'createdAt', 'storedUpTo', 'windowMs', 'updatedAt')),
        // Another stream of the same name has other messages under these sequences.
        replayUpTo: sql`CASE WHEN ${keptCreatedAt} = ${excluded(keptCreatedAt)} THEN ${replayUpTo} ELSE 0 END`,
      },
    });
}

/**
 * Records that messages up to the last one are delivered again. The restored position stays until a writer
 * stores: an interrupted replay is planned by it again, and names the same gap.
 * @param completeUpTo the position of a database that has none.
 */
export async function recordReplay(
  database: Database,
  { stream, createdAt, lastSequence: replayUpTo }: StreamState,
  { sequence: storedUpTo, at: updatedAt }: { sequence: number; at: Date },
): Promise<void> {
  await database
    .insert(queuePositions)
    .values({ stream: stream.name, createdAt, storedUpTo, windowMs: 0, replayUpTo, updatedAt })
    .onConflictDoUpdate({ target: queuePositions.stream, set: { replayUpTo } });
}

export async function readStoredPositions(database: Database): Promise<StoredPosition[]> {
  return database.select().from(queuePositions);
}

/** Sequences up to which replays deliver messages again: known events in them are no repeats of clients. */
export async function readReplays(database: Database): Promise<ReadonlyMap<string, number>> {
  const { stream, replayUpTo } = queuePositions;
  const rows = await database
    .select({ stream, replayUpTo })
    .from(queuePositions)
    .where(gt(replayUpTo, 0))
    .catch(() => []);
  return new Map(rows.map((row) => [row.stream, row.replayUpTo]));
}
