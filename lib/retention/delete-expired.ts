import { type SQL, sql } from 'drizzle-orm';
import postgres from 'postgres';
import type { Database } from '../db/database.ts';
import { spaces } from '../db/schema.ts';
import { rowLockTimeoutMs } from './limits.ts';
import { instantOf, isAmong, joinStatements, propagateSettings, setLockTimeout } from './literals.ts';
import { cutoffSql, type ExpiryRule } from './policy.ts';

/** The SQLSTATE by which a deletion ends that found rows to keep: a retention is longer than when they were chosen. */
const keptState = 'WE001';

/** Ends a DO block with nothing deleted. `isKept` recognises the error. */
export const raiseKept = sql`RAISE EXCEPTION 'a row has not expired' USING ERRCODE = '${sql.raw(keptState)}'`;

/** Rows of a space that have expired by its retention of the moment in which they were chosen. */
export interface ExpiredRows {
  readonly spaceId: string;
  /** When the latest of them was received. */
  readonly latestMs: number;
  readonly rule: ExpiryRule;
}

/**
 * Deletes rows that have expired, if they still have when the transaction runs.
 *
 * @param deletions the statements, in plpgsql.
 * @returns false, with nothing deleted, when the retention is longer meanwhile, or when another transaction holds one of the
 *   rows.
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
    SELECT FROM ${spaces} WHERE ${isAmong(spaces.id, [spaceId])} AND ${cutoffSql(rule)} > ${instantOf(latestMs)}
  ) THEN ${raiseKept}; END IF;
  ${joinStatements(deletions)}
END $$`);
    return true;
  } catch (error) {
    if (isLockConflict(error) || isKept(error)) return false;
    throw error;
  }
}

/** lock_not_available; deadlock_detected, which on Citus is also found between its nodes. In either case nothing has changed. */
export function isLockConflict(error: unknown): boolean {
  return isState(error, '55P03', '40P01');
}

export function isKept(error: unknown): boolean {
  return isState(error, keptState);
}

function isState(error: unknown, ...states: string[]): boolean {
  return error instanceof postgres.PostgresError && states.includes(error.code);
}
