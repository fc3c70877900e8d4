import type { Sql } from '../db/connect.ts';
import { decodePart, type Part } from '../queue/group.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { insertParts } from './store.ts';

export interface ReplayResult {
  /** Ids of the entries that are stored now, and no longer in quarantine. */
  replayed: string[];
  /** Entries that were refused again, and stay. */
  failed: { id: string; sqlstate: string; message: string }[];
}

/**
 * Stores what is in quarantine, after an operator mended the cause. Each event counts once, in the month in which it
 * was received, however often it is replayed.
 *
 * @param ids which entries; all when absent.
 * @throws when Postgres fails for a reason other than the data.
 */
export async function replayQuarantined(sql: Sql, ids?: readonly string[]): Promise<ReplayResult> {
  const result: ReplayResult = { replayed: [], failed: [] };
  const entries = await sql<{ spaceId: string; id: string }[]>`
    SELECT space_id AS "spaceId", id FROM quarantine
    ${ids === undefined ? sql`` : sql`WHERE id = ANY(${`{${ids.join(',')}}`}::uuid[])`} ORDER BY quarantined_at, id`;
  // One at a time: memory holds one entry, and one that is refused holds up no other.
  for (const { spaceId, id } of entries) {
    const failure = await replayEntry(sql, spaceId, id);
    if (failure === undefined) result.replayed.push(id);
    else result.failed.push({ id, ...failure });
  }
  return result;
}

async function replayEntry(sql: Sql, spaceId: string, id: string): Promise<Refusal | undefined> {
  const [entry] = await sql<
    { part: Buffer }[]
  >`SELECT part FROM quarantine WHERE space_id = ${spaceId} AND id = ${id}`;
  if (entry === undefined) return undefined;
  let part: Part;
  try {
    part = decodePart(entry.part);
  } catch (error) {
    return { sqlstate: '', message: `not a queue message: ${String(error)}` };
  }
  try {
    await insertParts(sql, [part]);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return refusal;
  }
  await sql`DELETE FROM quarantine WHERE space_id = ${spaceId} AND id = ${id}`;
  return undefined;
}
