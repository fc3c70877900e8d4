import { and, asc, eq, inArray } from 'drizzle-orm';
import { clientOf, type Database } from '../db/database.ts';
import { quarantine } from '../db/schema.ts';
import { decodePart, type Part } from '../queue/group.ts';
import { type PermanentError, permanentErrorOf } from './permanent-error.ts';
import { insertParts } from './store.ts';
import { requireWellFormed } from './well-formed.ts';

export interface ReplayResult {
  /** Ids of the entries that are stored now, and no longer in quarantine. */
  replayed: string[];
  /** Entries that were refused again, and stay. */
  failed: { id: string; sqlstate: string; message: string }[];
}

/**
 * Stores what is in quarantine, after an operator removed the cause. Each event counts once, in the month in which it
 * was received, however often it is replayed.
 *
 * @param which the entries of one space, with these ids; all when absent.
 * @throws when Postgres fails for a reason other than the data.
 */
export async function replayQuarantined(
  database: Database,
  { spaceId: ofSpace, ids }: { spaceId?: string; ids?: readonly string[] } = {},
): Promise<ReplayResult> {
  const result: ReplayResult = { replayed: [], failed: [] };
  const entries = await database
    .select({ spaceId: quarantine.spaceId, id: quarantine.id })
    .from(quarantine)
    .where(
      and(
        ofSpace === undefined ? undefined : eq(quarantine.spaceId, ofSpace),
        ids === undefined ? undefined : inArray(quarantine.id, [...ids]),
      ),
    )
    .orderBy(asc(quarantine.quarantinedAt), asc(quarantine.id));
  // One at a time: memory holds one entry, and one that is refused delays no other.
  for (const { spaceId, id } of entries) {
    const failure = await replayEntry(database, spaceId, id);
    if (failure === undefined) result.replayed.push(id);
    else result.failed.push({ id, ...failure });
  }
  return result;
}

/**
 * The entry is locked until its events are stored, and goes in the same transaction. So an erasure, which looks into the quarantine
 * first, finds them in one place or in the other.
 */
async function replayEntry(
  database: Database,
  spaceId: string,
  id: string,
): Promise<PermanentError | undefined> {
  const isEntry = and(eq(quarantine.spaceId, spaceId), eq(quarantine.id, id));
  try {
    return await database.transaction(async (transaction) => {
      const [entry] = await transaction
        .select({ part: quarantine.part })
        .from(quarantine)
        .where(isEntry)
        .for('update');
      if (entry === undefined) return undefined;
      const part = tryDecode(entry.part);
      if ('sqlstate' in part) return part;
      await insertParts({ $client: clientOf(transaction) }, [part]);
      await transaction.delete(quarantine).where(isEntry);
      return undefined;
    });
  } catch (error) {
    const permanentError = permanentErrorOf(error);
    if (permanentError === undefined) throw error;
    return permanentError;
  }
}

function tryDecode(bytes: Uint8Array): Part | PermanentError {
  try {
    const part = decodePart(bytes);
    requireWellFormed(part);
    return part;
  } catch (error) {
    return { sqlstate: '', message: `not a queue message: ${String(error)}` };
  }
}
