import { and, asc, eq, inArray } from 'drizzle-orm';
import { type Actor, auditNow, operator } from '../accounts/audit/audit.ts';
import { clientOf, type Database } from '../db/database.ts';
import { quarantine } from '../db/schema.ts';
import { decodePart, type Part } from '../queue/group.ts';
import { type PermanentError, permanentErrorOf } from './permanent-error.ts';
import { runStoreStatement } from './store.ts';
import { requireWellFormed } from './well-formed.ts';

/** Ids of entries that one audit row lists. */
const auditedIdsMax = 100;

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
 * Each space has an audit row of it, which is written before: every entry is stored in a transaction of its own.
 *
 * @param which the entries of one space, with these ids; all when absent. `actor`: who asks; by default the operator.
 * @throws when Postgres fails for a reason other than the data.
 */
export async function replayQuarantined(
  database: Database,
  {
    spaceId: ofSpace,
    ids,
    actor = operator,
  }: { spaceId?: string; ids?: readonly string[]; actor?: Actor } = {},
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
  for (const [spaceId, own] of Map.groupBy(entries, (entry) => entry.spaceId)) {
    const details = { entries: own.length, ids: own.slice(0, auditedIdsMax).map(({ id }) => id) };
    await auditNow(database, { spaceId, actor, action: 'quarantine.replay', details });
  }
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
      await runStoreStatement(clientOf(transaction), [part]);
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
