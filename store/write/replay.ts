import { createHash } from 'node:crypto';
import { and, asc, eq, inArray } from 'drizzle-orm';
import { z } from 'zod';
import { decodePart, type Part } from '../../platform/queue/group.ts';
import { type Actor, auditNow, operator } from '../accounts/audit/audit.ts';
import type { Database } from '../db/database.ts';
import { quarantine } from '../db/schema.ts';
import { isMovedPartition, type PermanentError, permanentErrorOf } from './permanent-error.ts';
import { replayPart } from './store.ts';
import { requireWellFormed } from './well-formed.ts';

/** Attempts for an entry that changes while it is replayed. An erasure rewrites an entry once. */
const replayAttemptsMax = 5;

/** Ids of entries that one audit row lists. */
const auditedIdsMax = 100;

export const replayResult = z.object({
  /** Ids of the entries that are stored now, and no longer in quarantine. */
  replayed: z.array(z.guid()),
  /** Entries that were rejected again, and stay. */
  failed: z.array(z.object({ id: z.guid(), sqlstate: z.string(), message: z.string() })),
});
type ReplayResult = z.infer<typeof replayResult>;

/**
 * Stores quarantined events, after an operator removed the cause. Each event counts once, in the month in
 * which it was received, however often it is replayed.
 *
 * One audit row per space is written first, because each entry is stored by a statement of its own.
 * @param which the entries of one space, with these ids; all when absent. `actor`: by default the operator.
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
  // One at a time: memory holds one entry, and a rejected one does not affect the others.
  for (const { spaceId, id } of entries) {
    const failure = await replayEntry(database, spaceId, id);
    if (failure === undefined) result.replayed.push(id);
    else result.failed.push({ id, ...failure });
  }
  return result;
}

/**
 * One statement stores the events and removes the entry, so that an erasure, which searches the quarantine
 * first, finds them in one place or the other. An entry that an erasure rewrites meanwhile is read again.
 */
async function replayEntry(
  database: Database,
  spaceId: string,
  id: string,
): Promise<PermanentError | undefined> {
  for (let attempt = 1; attempt <= replayAttemptsMax; attempt++) {
    const [entry] = await database
      .select({ part: quarantine.part })
      .from(quarantine)
      .where(and(eq(quarantine.spaceId, spaceId), eq(quarantine.id, id)));
    if (entry === undefined) return undefined;
    const part = tryDecode(entry.part);
    if ('sqlstate' in part) return part;
    const hash = createHash('sha256').update(entry.part).digest();
    try {
      if (await replayPart(database, part, { spaceId, id, hash })) return undefined;
    } catch (error) {
      if (isMovedPartition(error)) continue;
      const permanentError = permanentErrorOf(error);
      if (permanentError === undefined) throw error;
      return permanentError;
    }
  }
  throw new Error(`entry ${id} of the quarantine changed ${replayAttemptsMax} times while it was replayed`);
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
