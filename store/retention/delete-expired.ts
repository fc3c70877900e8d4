import { type SQL, sql } from 'drizzle-orm';
import postgres from 'postgres';
import type { Database } from '../db/database.ts';
import { spaces } from '../db/schema.ts';
import { rowLockTimeoutMs } from './limits.ts';
import { instantOf, isAmong, joinStatements, propagateSettings, setLockTimeout } from './literals.ts';
import { cutoffSql, type ExpiryRule } from './policy.ts';

/** Raised when a deletion finds rows to keep, because the retention was lengthened after their selection. */
const keptState = 'WE001';

/** Aborts a DO block, so that nothing is deleted. `isKept` recognises the error. */
export const raiseKept = sql`RAISE EXCEPTION 'a row has not expired' USING ERRCODE = '${sql.raw(keptState)}'`;

/** Rows of a space that had expired when they were selected. */
export interface ExpiredRows {
  readonly spaceId: string;
  /** Receipt time of the newest of them. */
  readonly latestMs: number;
  readonly rule: ExpiryRule;
}

/**
 * Deletes rows if they are still expired when the transaction runs.
 * @param deletions plpgsql statements.
 * @returns false, with nothing deleted, after a longer retention, or with a row locked by others.
 */
export async function deleteExpired(
  database: Database,
  { spaceId, latestMs, rule }: ExpiredRows,
  deletions: readonly SQL[],
): Promise<boolean> {
  try {
    await database.execute(sql`
DO $$
BEGIN
  ${propagateSettings};
  ${setLockTimeout(rowLockTimeoutMs)};
  IF NOT EXISTS (
    SELECT 1 FROM ${spaces} WHERE ${isAmong(spaces.id, [spaceId])} AND ${cutoffSql(rule)} > ${instantOf(latestMs)}
  ) THEN ${raiseKept}; END IF;
  ${joinStatements(deletions)}
END $$`);
    return true;
  } catch (error) {
    if (isLockConflict(error) || isKept(error)) return false;
    throw error;
  }
}

/** lock_not_available, or deadlock_detected, as Citus reports between nodes: nothing was changed. */
export function isLockConflict(error: unknown): boolean {
  return isState(error, '55P03', '40P01');
}

export function isKept(error: unknown): boolean {
  return isState(error, keptState);
}

function isState(error: unknown, ...states: string[]): boolean {
  return error instanceof postgres.PostgresError && states.includes(error.code);
}
