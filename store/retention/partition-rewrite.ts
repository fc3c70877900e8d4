import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { type PartitionedTable, partitionedTables } from '../db/partitions.ts';
import { statisticsOf } from '../db/planner-statistics.ts';
import { events } from '../db/schema.ts';
import { nameOf, namesOf } from '../db/statement.ts';
import { boundOf, type TimeRange } from '../db/weeks.ts';
import { isLockConflict } from './delete-expired.ts';
import { rewrittenBytesMin, rewrittenEventsMax, rewrittenLiveShare } from './limits.ts';
import { readFill, type TableFill } from './partition-fill.ts';
import { changePartitions } from './table-lock.ts';
import type { WeekPartitions } from './week-partitions.ts';

/**
 * When most pages of a past week's partitions are empty, swaps in copies of the rows. VACUUM returns little:
 * remaining rows are scattered, and no new ones reuse the space. Reads continue; writes to that week wait.
 * @returns false also when the tables could not be locked.
 */
export async function rewriteSparsePartitions(database: Database, week: WeekPartitions): Promise<boolean> {
  if (week.events === undefined || week.segments === undefined) return false;
  const fill = await readFill(database, week.events);
  if (!isSparse(fill)) return false;
  return copyPartitions(database, week);
}

/**
 * Copies a week's remaining rows into new files, without deleted data, whatever their fill.
 * @param isWritten whether writers currently store into this week.
 * @returns false when the tables could not be locked, or one of the two partitions is missing.
 */
export async function copyPartitions(
  database: Database,
  week: WeekPartitions,
  isWritten = false,
): Promise<boolean> {
  if (week.events === undefined || week.segments === undefined) return false;
  try {
    await database.execute(rewritePartitions(week, isWritten));
    return true;
  } catch (error) {
    if (isLockConflict(error)) return false;
    throw error;
  }
}

function isSparse({ rows, liveBytes, tableBytes }: TableFill): boolean {
  return (
    tableBytes >= rewrittenBytesMin &&
    rows <= rewrittenEventsMax &&
    liveBytes < rewrittenLiveShare * tableBytes
  );
}

function rewritePartitions(week: WeekPartitions, isWritten: boolean): SQL {
  const copies = partitionedTables.flatMap((one) => {
    const partition = one.table === events ? week.events : week.segments;
    return partition === undefined ? [] : [{ ...one, partition, range: week.range }];
  });
  return changePartitions(week, {
    isWritten,
    prepare: copies.flatMap(copyRows),
    finish: copies.flatMap(replacePartition),
  });
}

interface Copy extends PartitionedTable {
  readonly partition: string;
  readonly range: TimeRange;
}

const copyOf = ({ partition }: Copy) => sql`${sql.identifier(`${partition}_copy`)}`;

/** The CHECK constraint proves that rows are in range: ATTACH does not scan them under its lock. */
function copyRows(copy: Copy): SQL[] {
  const { table, key, partition, range } = copy;
  const columns = namesOf(Object.values(getTableColumns(table)));
  // Keeps the rows of a segment together, as the writer stores them.
  const order = table === events ? namesOf([events.segmentId, events.segmentIndex]) : nameOf(key);
  const { from, to } = boundsOf(range);
  const isInside = sql`${nameOf(key)} >= ${from} AND ${nameOf(key)} < ${to}`;
  return [
    sql`CREATE TABLE ${copyOf(copy)} (LIKE ${table} INCLUDING ALL, CONSTRAINT inside CHECK (${isInside}))`,
    sql`INSERT INTO ${copyOf(copy)} (${columns}) SELECT ${columns} FROM ${sql.identifier(partition)} ORDER BY ${order}`,
    ...statisticsOf(table, `${partition}_copy`),
    sql`ANALYZE ${copyOf(copy)}`,
  ];
}

function replacePartition(copy: Copy): SQL[] {
  const { table, partition, range } = copy;
  const { from, to } = boundsOf(range);
  const name = sql.identifier(partition);
  return [
    sql`DROP TABLE ${name}`,
    sql`ALTER TABLE ${copyOf(copy)} RENAME TO ${name}`,
    sql`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`,
    sql`ALTER TABLE ${name} DROP CONSTRAINT inside`,
  ];
}

function boundsOf({ fromMs, toMs }: TimeRange): { from: SQL; to: SQL } {
  const literal = (ms: number) => sql.raw(`'${boundOf(ms)}'`);
  return { from: literal(fromMs), to: literal(toMs) };
}
