import { and, eq, inArray, lt } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { quarantine } from '../db/schema.ts';
import { deletedEntriesMax } from './limits.ts';
import type { SpaceExpiry } from './policy.ts';

/**
 * Deletes a bounded number of a space's quarantine entries that have expired. Their ids are not in the ledger, since their
 * events were never stored: sent again they are new.
 *
 * @returns how many; less than `deletedEntriesMax` when no more have expired.
 */
export async function deleteExpiredEntries(
  database: Database,
  { spaceId, cutoffMs }: SpaceExpiry,
): Promise<number> {
  const ofSpace = eq(quarantine.spaceId, spaceId);
  const expired = await database
    .select({ id: quarantine.id })
    .from(quarantine)
    .where(and(ofSpace, lt(quarantine.receivedAt, new Date(cutoffMs))))
    .limit(deletedEntriesMax);
  if (expired.length === 0) return 0;
  const ids = expired.map(({ id }) => id);
  await database.delete(quarantine).where(and(ofSpace, inArray(quarantine.id, ids)));
  return expired.length;
}
