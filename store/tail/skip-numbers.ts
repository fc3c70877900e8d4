import { eq, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { commitCounters, spaceCommits, storeDelayPositions } from '../db/schema.ts';
import { numberOf } from '../db/statement.ts';
import { foldDelays } from '../store-delays/fold-delays.ts';
import { skippedNumbers } from './limits.ts';

/** The position after a restore. */
const noSegment = '00000000-0000-0000-0000-000000000000';

/**
 * Lets each space continue with unused commit numbers after a restore. A stream's position from before could
 * name the same segment under the same number: its client would get events twice and miss others (docs/model,
 * guard NewNumbers). With new numbers it is told of a gap. No writer may run. Can be repeated.
 */
export async function skipCommitNumbers(database: Database): Promise<void> {
  // What counts commits by their numbers must not count through the numbers that are skipped.
  while ((await foldDelays(database)) > 0);
  const { spaceId, lastNumber } = commitCounters;
  await database.update(commitCounters).set({ lastNumber: sql`${lastNumber} + ${numberOf(skippedNumbers)}` });
  // The last commit of a space is a position from which a stream can continue (deleteOldCommits).
  await database.insert(spaceCommits).select(
    database
      .select({
        spaceId,
        number: lastNumber,
        storedAt: sql`now()`.as(spaceCommits.storedAt.name),
        eventCount: sql`0`.as(spaceCommits.eventCount.name),
        segmentIds: sql`ARRAY[${noSegment}]::uuid[]`.as(spaceCommits.segmentIds.name),
        delays: sql`NULL::bigint[]`.as(spaceCommits.delays.name),
      })
      .from(commitCounters),
  );
  await database
    .update(storeDelayPositions)
    .set({ number: lastNumber, previous: lastNumber })
    .from(commitCounters)
    .where(eq(storeDelayPositions.spaceId, spaceId));
}
