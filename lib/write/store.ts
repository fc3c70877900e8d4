import type { Sql } from '../db/connect.ts';
import type { Database } from '../db/database.ts';
import type { Part } from '../queue/group.ts';
import { permanentErrorOf } from './permanent-error.ts';
import { quarantineEvent } from './quarantine.ts';
import { slicePart } from './slice.ts';
import { storeParameters, storeStatement } from './statement.ts';

export interface StoreResult {
  /** Rows that were new. The other events were there already. */
  inserted: number;
  /** Events that Postgres refused and that are in quarantine now. */
  quarantined: number;
}

/**
 * Stores parts in one transaction. Events that Postgres refuses are found by bisection and kept in quarantine; all others
 * are stored. Storing the same parts again changes nothing.
 *
 * @param parts well-formed.
 * @throws QuarantineRefusedError when Postgres refuses an event and its entry in quarantine, both for good; another error
 *   when the failure is transient. Then any subset may have been stored; call again with the same parts.
 */
export async function storeParts(database: Database, parts: readonly Part[]): Promise<StoreResult> {
  try {
    return { inserted: await insertParts(database, parts), quarantined: 0 };
  } catch (error) {
    const permanentError = permanentErrorOf(error);
    if (permanentError === undefined) throw error;
    const [lone] = parts;
    if (lone === undefined) throw error;
    if (parts.length > 1)
      return storeHalves(database, parts, (list, from, to) => list.slice(from, to), parts.length);
    if (lone.eventCount > 1)
      return storeHalves(database, lone, (part, from, to) => [slicePart(part, from, to)], lone.eventCount);
    await quarantineEvent(database, lone, permanentError);
    return { inserted: 0, quarantined: 1 };
  }
}

/**
 * Stores parts in one transaction, or none of them.
 *
 * @returns how many rows were new.
 */
export async function insertParts(
  database: { readonly $client: Pick<Sql, 'unsafe'> },
  parts: readonly Part[],
): Promise<number> {
  const rows = await database.$client.unsafe<{ inserted: number }[]>(storeStatement, storeParameters(parts), {
    prepare: true,
  });
  const inserted = rows[0]?.inserted;
  if (inserted === undefined) throw new Error('the store statement returned no row');
  return inserted;
}

async function storeHalves<T>(
  database: Database,
  whole: T,
  cut: (whole: T, from: number, to: number) => readonly Part[],
  length: number,
): Promise<StoreResult> {
  const middle = length >> 1;
  const left = await storeParts(database, cut(whole, 0, middle));
  const right = await storeParts(database, cut(whole, middle, length));
  return { inserted: left.inserted + right.inserted, quarantined: left.quarantined + right.quarantined };
}
