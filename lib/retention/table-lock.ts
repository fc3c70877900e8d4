import { type SQL, sql } from 'drizzle-orm';
import { events, segments } from '../db/schema.ts';
import { partitionLockTimeoutMs, tableLockPauseMs, tableLockTimeoutMs, tableLockTries } from './limits.ts';
import { joinStatements, propagateSettings, setLockTimeout } from './literals.ts';
import type { WeekPartitions } from './week-partitions.ts';

/** What to do with the partitions of a week, as statements of plpgsql. */
export interface PartitionChange {
  /** Runs while nobody can write to the partitions; everybody can read them, but on Citus. `RETURN` ends the change. */
  readonly prepare: readonly SQL[];
  /**
   * Whether writers store into this week now. Then they wait in front of the tables from the beginning, in all weeks: one that waited
   * for the partition would hold a lock of its table, for which `finish` would wait.
   */
  readonly isWritten?: boolean;
  /** Runs while nobody can use `events` and `segments`, so it must be short. */
  readonly finish: readonly SQL[];
  /**
   * A statement of Citus that writes to a table locks all its partitions. So there no lock is held from one try to the next:
   * every write would wait. What is prepared must be short, too.
   */
  readonly onCitus?: boolean;
}

/**
 * The statement that changes the partitions of a week. It never makes readers or writers of `events` and `segments` wait longer
 * than a short lock timeout, and gives up with lock_not_available after a number of tries. DETACH PARTITION CONCURRENTLY would
 * wait without blocking, but Postgres refuses it for tables that have a default partition.
 *
 * The lock of the partitions comes first: a writer that stores into an old week waits for it, other writers do not. It keeps
 * autovacuum away, and what was prepared stays true until the tables are locked.
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

/** Locks both tables, in short tries with pauses, and then runs the statements, of which the last one ends the tries. */
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
