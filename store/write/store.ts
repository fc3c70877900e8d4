import type { Part } from '../../platform/queue/group.ts';
import type { Sql } from '../db/connect.ts';
import type { Database } from '../db/database.ts';
import { layoutOf } from '../db/layout/layout.ts';
import { storeOnCluster } from './cluster-store.ts';
import { knownIdsExpectedMs, separationsMax } from './limits.ts';
import { isKnownId, isMovedPartition, permanentErrorOf } from './permanent-error.ts';
import { quarantineEvent } from './quarantine.ts';
import { findRepeatedIds, separateKnown, separateRepeated } from './repeats.ts';
import { slicePart } from './slice.ts';
import {
  type ReadEntry,
  replayParameters,
  replayStatement,
  storeOnlyNewStatement,
  storeParameters,
  storeStatement,
} from './statement.ts';
import { partlyKnownState } from './statement-parts.ts';

export interface StoreResult {
  /** Rows that were new. The other events were stored before. */
  inserted: number;
  /** Events that Postgres rejected and that are in quarantine now. */
  quarantined: number;
  /** Whether a part had both new and stored events, so that the statement was repeated. */
  hadKnown: boolean;
}

/**
 * Stores parts in one transaction. Events that Postgres rejects are found by bisection and kept in
 * quarantine; all others are stored. Storing the same parts again changes nothing.
 * @param parts well-formed.
 * @throws QuarantineRefusedError when Postgres permanently rejects an event and its quarantine entry; another
 * error when the failure is transient. Then any subset may have been stored; call again with the same parts.
 */
export async function storeParts(database: Database, parts: readonly Part[]): Promise<StoreResult> {
  try {
    return { ...(await storeWhole(database, parts)), quarantined: 0 };
  } catch (error) {
    const permanentError = permanentErrorOf(error);
    if (permanentError === undefined) throw error;
    const [lone] = parts;
    if (lone === undefined) throw error;
    if (parts.length > 1) return storeHalves(database, parts.length, (from, to) => parts.slice(from, to));
    if (lone.eventCount > 1)
      return storeHalves(database, lone.eventCount, (from, to) => [slicePart(lone, from, to)]);
    await quarantineEvent(database, lone, permanentError);
    return { inserted: 0, quarantined: 1, hadKnown: false };
  }
}

/**
 * Stores parts in one transaction, or none of them. When a part has new and stored events, the stored ones
 * are separated first, so that the segment holds the texts of the new ones only.
 */
async function storeWhole(
  database: Database,
  parts: readonly Part[],
): Promise<Pick<StoreResult, 'inserted' | 'hadKnown'>> {
  const insert = (await layoutOf(database)).isCluster ? runOnCluster : runStoreStatement;
  let tried = parts;
  for (let attempt = 1; ; attempt++) {
    try {
      const inserted = await insert(database.$client, tried);
      return { inserted, hadKnown: tried !== parts };
    } catch (error) {
      if (isKnownId(error)) {
        knownIdsSinceMs.set(database.$client, performance.now());
        continue;
      }
      if (attempt === separationsMax) throw error;
      if (isMovedPartition(error)) continue;
      if (permanentErrorOf(error)?.sqlstate !== partlyKnownState) throw error;
    }
    tried = await separateKnown(database, tried);
  }
}

/** When each pool last stored events of which the ledger had some. */
const knownIdsSinceMs = new WeakMap<Sql, number>();

async function runOnCluster(client: Sql, parts: readonly Part[]): Promise<number> {
  const repeated = findRepeatedIds(parts);
  if (repeated.length === 0) return storeOnCluster(client, parts, repeated);
  const separated = separateRepeated(parts, repeated);
  return storeOnCluster(client, separated, findRepeatedIds(separated));
}

/**
 * Runs the store statement once.
 * @returns how many rows were new.
 * @throws an error with {@link partlyKnownState} when a part has both new and stored events. A part of one
 * event never does.
 * @throws an error for which {@link isKnownId} holds when events were expected to be new, and one is not.
 */
async function runStoreStatement(client: Sql, parts: readonly Part[]): Promise<number> {
  const repeated = findRepeatedIds(parts);
  const separated = repeated.length === 0 ? parts : separateRepeated(parts, repeated);
  const positions = repeated.length === 0 ? repeated : findRepeatedIds(separated);
  const isNew =
    performance.now() - (knownIdsSinceMs.get(client) ?? Number.NEGATIVE_INFINITY) > knownIdsExpectedMs;
  const statement = isNew ? storeOnlyNewStatement : storeStatement;
  const parameters = storeParameters(statement, separated, positions);
  const rows = await client.unsafe<{ inserted: number }[]>(statement.text, parameters, { prepare: true });
  const inserted = rows[0]?.inserted;
  if (inserted === undefined) throw new Error('the store statement returned no row');
  return inserted;
}

/**
 * Stores a quarantined part and removes its entry, in one statement.
 * @returns false when the entry no longer exists: nothing was stored.
 */
export async function replayPart(database: Database, part: Part, entry: ReadEntry): Promise<boolean> {
  const rows = await database.$client.unsafe<{ removed: number }[]>(
    replayStatement,
    replayParameters(part, entry),
  );
  return rows[0]?.removed === 1;
}

async function storeHalves(
  database: Database,
  length: number,
  cut: (from: number, to: number) => readonly Part[],
): Promise<StoreResult> {
  const middle = length >> 1;
  const left = await storeParts(database, cut(0, middle));
  const right = await storeParts(database, cut(middle, length));
  return {
    inserted: left.inserted + right.inserted,
    quarantined: left.quarantined + right.quarantined,
    hadKnown: left.hadKnown || right.hadKnown,
  };
}
