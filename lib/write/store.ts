import type { Sql } from '../db/connect.ts';
import type { Part } from '../queue/group.ts';
import { quarantineEvent } from './quarantine.ts';
import { refusalOf } from './refusal.ts';
import { slicePart } from './slice.ts';
import { storeParameters, storeStatement } from './statement.ts';

export interface StoreResult {
  /** Rows that were new. The other events were there already. */
  inserted: number;
  /** Events that Postgres refused and that are in quarantine now. */
  quarantined: number;
}

/**
 * Stores parts in one transaction. What Postgres refuses is found by bisection, down to the single event, and kept
 * in quarantine; everything beside it is stored. Storing the same parts again changes nothing.
 *
 * @throws when the failure is transient. Then any subset may have been stored; call again with the same parts.
 */
export async function storeParts(sql: Sql, parts: readonly Part[]): Promise<StoreResult> {
  try {
    return { inserted: await insertParts(sql, parts), quarantined: 0 };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    const [lone] = parts;
    if (lone === undefined) throw error;
    if (parts.length > 1)
      return storeHalves(sql, parts, (list, from, to) => list.slice(from, to), parts.length);
    if (lone.eventCount > 1)
      return storeHalves(sql, lone, (part, from, to) => [slicePart(part, from, to)], lone.eventCount);
    await quarantineEvent(sql, lone, refusal);
    return { inserted: 0, quarantined: 1 };
  }
}

/**
 * Stores parts in one transaction, or none of them.
 *
 * @returns how many rows were new.
 */
export async function insertParts(sql: Sql, parts: readonly Part[]): Promise<number> {
  const rows = await sql.unsafe<{ inserted: number }[]>(storeStatement, storeParameters(parts), {
    prepare: true,
  });
  const inserted = rows[0]?.inserted;
  if (inserted === undefined) throw new Error('the store statement returned no row');
  return inserted;
}

async function storeHalves<T>(
  sql: Sql,
  whole: T,
  cut: (whole: T, from: number, to: number) => readonly Part[],
  length: number,
): Promise<StoreResult> {
  const middle = length >> 1;
  const left = await storeParts(sql, cut(whole, 0, middle));
  const right = await storeParts(sql, cut(whole, middle, length));
  return { inserted: left.inserted + right.inserted, quarantined: left.quarantined + right.quarantined };
}
