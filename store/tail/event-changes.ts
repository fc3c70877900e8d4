import { and, asc, eq, gt } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { commitCounters, eventChanges } from '../db/schema.ts';
import { changesPerRead } from './limits.ts';

/** The number of the last change of a space; 0 before the first. */
export async function readLastChange(database: Database, spaceId: string): Promise<number> {
  const [row] = await database
    .select({ last: commitCounters.lastChange })
    .from(commitCounters)
    .where(eq(commitCounters.spaceId, spaceId));
  return row?.last ?? 0;
}

/** Changes after a number. Numbers have the order of COMMIT, so none appears later between those read. */
export async function readChanges(database: Database, spaceId: string, after: number) {
  const rows = await database
    .select({ number: eventChanges.number, ids: eventChanges.eventIds })
    .from(eventChanges)
    .where(and(eq(eventChanges.spaceId, spaceId), gt(eventChanges.number, after)))
    .orderBy(asc(eventChanges.number))
    .limit(changesPerRead);
  return {
    /** Each event once, with the number of its last change. It may not exist any more. */
    numbers: new Map(rows.flatMap(({ number, ids }) => ids.map((id) => [id, number]))),
    end: rows.at(-1)?.number ?? after,
    isComplete: rows.length < changesPerRead,
  };
}
