import { type SQL, sql } from 'drizzle-orm';
import { events, segments } from '../db/schema.ts';
import { partitionLockTimeoutMs, tableLockPauseMs, tableLockTimeoutMs, tableLockTries } from './limits.ts';
import { joinStatements, propagateSettings, setLockTimeout } from './literals.ts';
import type { WeekPartitions } from './week-partitions.ts';

/** How to change the partitions of a week, as plpgsql statements. */
export interface PartitionChange {
  /**
   * Runs while nobody can write to the partitions; reads continue, except on Citus. `RETURN` ends the change.
   */
  readonly prepare: readonly SQL[];
  /**
   * Whether writers store into this week: then all writes of the table wait from the beginning. A writer that
   * waited for the partition would lock its table, for which `finish` would wait.
   */
  readonly isWritten?: boolean;
  /** Runs while nobody can use `events` and `segments`, so it must be short. */
  readonly finish: readonly SQL[];
  /**
   * On Citus a write locks all partitions: no lock is held between tries, and `prepare` must be short, too.
   */
  readonly onCitus?: boolean;
}

/**
 * Builds the statement that changes a week's partitions: readers and writers of `events` and `segments` wait
 * no longer than a short lock time-out, and it fails with lock_not_available after some tries. Postgres
 * refuses DETACH CONCURRENTLY with a default partition. The partitions are locked first: only writers into an
 * old week and autovacuum wait, and what was prepared stays valid.
 */
export function changePartitions(
  week: WeekPartitions,
  { prepare, finish, isWritten = false, onCitus = false }: PartitionChange,
): SQL {
  return sql`
DO $$
BEGIN
  ${propagateSettings};
  ${isWritten ? lockTables('SHARE ROW EXCLUSIVE', [sql`EXIT`]) : sql``}
  ${onCitus ? sql`` : joinStatements([...lockPartitions(week), ...prepare])}
  ${lockTables('ACCESS EXCLUSIVE', [...(onCitus ? prepare : []), ...finish, sql`RETURN`])}
END $$`;
}

function lockPartitions(week: WeekPartitions): SQL[] {
  const partitions = sql.join(partitionNames(week), sql`, `);
  return [setLockTimeout(partitionLockTimeoutMs), sql`LOCK TABLE ${partitions} IN SHARE ROW EXCLUSIVE MODE`];
}

/** Locks in short tries with pauses; the last statement must leave the loop. */
function lockTables(mode: 'SHARE ROW EXCLUSIVE' | 'ACCESS EXCLUSIVE', statements: readonly SQL[]): SQL {
  return sql`
  ${setLockTimeout(tableLockTimeoutMs)};
  FOR attempt IN 1..${sql.raw(String(tableLockTries))} LOOP
    BEGIN
      -- In the order in which the store statement locks them.
      LOCK TABLE ONLY ${events} IN ${sql.raw(mode)} MODE;
      LOCK TABLE ONLY ${segments} IN ${sql.raw(mode)} MODE;
      ${joinStatements(statements)}
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = ${sql.raw(String(tableLockTries))} THEN RAISE; END IF;
    END;
    PERFORM pg_sleep(${sql.raw(String(tableLockPauseMs / 1_000))});
  END LOOP;`;
}

export function partitionNames(week: WeekPartitions): SQL[] {
  return [week.events, week.segments].flatMap((name) =>
    name === undefined ? [] : [sql`${sql.identifier(name)}`],
  );
}
