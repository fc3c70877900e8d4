import { and, eq, lt, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { quarantine } from '../db/schema.ts';
import { deleteExpired } from './delete-expired.ts';
import { deletedEntriesMax } from './limits.ts';
import { isAmong } from './literals.ts';
import { type ExpiryRule, readCutoff } from './policy.ts';

/**
 * A bounded number of a space's entries. Their events, never stored, are not in the ledger: sent again, they
 * are new. @returns how many; less than `deletedEntriesMax` when no more have expired.
 */
export async function deleteExpiredEntries(
  database: Database,
  spaceId: string,
  rule: ExpiryRule,
): Promise<number> {
  const cutoffMs = await readCutoff(database, spaceId, rule);
  if (cutoffMs === -Infinity) return 0;
  const expired = await database
    .select({ id: quarantine.id, receivedAt: quarantine.receivedAt })
    .from(quarantine)
    .where(and(eq(quarantine.spaceId, spaceId), lt(quarantine.receivedAt, new Date(cutoffMs))))
    .limit(deletedEntriesMax);
  if (expired.length === 0) return 0;
  const ids = expired.map(({ id }) => id);
  const latestMs = Math.max(...expired.map(({ receivedAt }) => receivedAt.getTime()));
  const isDeleted = await deleteExpired(database, { spaceId, latestMs, rule }, [
    sql`DELETE FROM ${quarantine}
    WHERE ${isAmong(quarantine.spaceId, [spaceId])} AND ${isAmong(quarantine.id, ids)}`,
  ]);
  return isDeleted ? expired.length : 0;
}
