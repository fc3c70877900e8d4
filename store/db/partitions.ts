import { getTableName, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { dayMs } from '../../platform/time.ts';
import type { Database } from './database.ts';
import { layoutOf } from './layout/layout.ts';
import { ddlLockTimeoutMs } from './limits.ts';
import { setPlannerStatistics } from './planner-statistics.ts';
import { events, segments } from './schema.ts';
import { nameOf } from './statement.ts';
import { boundOf, dateOf, millisecondOf, type TimeRange, uncovered, weekOf } from './weeks.ts';

export interface PartitionedTable {
  readonly table: PgTable;
  readonly key: PgColumn;
}

export const partitionedTables: readonly PartitionedTable[] = [
  { table: segments, key: segments.id },
  { table: events, key: events.segmentId },
];

/** The default partitions, for segments whose id is outside of all weeks, and their events. */
export const defaultSegments = `${getTableName(segments)}_default`;
export const defaultEvents = `${getTableName(events)}_default`;

/** Weeks after the current one for which partitions are created ahead. */
const weeksAhead = 5;

/** The partitions of a table, oldest first; last the default, for rows outside of all others. */
export async function listPartitions(database: Database, table: PgTable) {
  const rows = await database.execute<{ name: string; bounds: string }>(sql`
    SELECT child.relname AS name, pg_get_expr(child.relpartbound, child.oid) AS bounds
    FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = ${getTableName(table)}::regclass`);
  return rows
    .map(({ name, bounds }) => ({ name, range: parseBounds(bounds) }))
    .toSorted((a, b) => (a.range?.fromMs ?? Infinity) - (b.range?.fromMs ?? Infinity));
}

/**
 * Creates missing partitions: of the current week and the weeks ahead, then of past weeks with rows in the
 * default partition, which it moves; and sets every partition's planner statistics. Safe in several processes
 * at once, while rows are written and read. A failed week stops no other.
 * @throws the first failure, for example a lock time-out. Created partitions stay; call again later.
 */
export async function ensurePartitions(database: Database, nowMs: number): Promise<void> {
  const ahead = Array.from({ length: weeksAhead + 1 }, (_, later) => weekOf(nowMs, later));
  const lastMs = ahead.at(-1)?.toMs ?? nowMs;
  const failures: unknown[] = [];
  for (const table of partitionedTables) failures.push(...(await makeWeeks(database, table, ahead)));
  for (const table of partitionedTables) {
    const late = (await findDefaultWeeks(database, table)).filter(({ toMs }) => toMs <= lastMs);
    failures.push(...(await makeWeeks(database, table, late)));
  }
  const layout = await layoutOf(database);
  await layout.finishPartitions(database).catch((error: unknown) => failures.push(error));
  await setPlannerStatistics(database).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** @returns the errors of partitions that could not be created. */
async function makeWeeks(
  database: Database,
  table: PartitionedTable,
  weeks: readonly TimeRange[],
): Promise<unknown[]> {
  const covered = (await listPartitions(database, table.table)).flatMap(({ range }) => range ?? []);
  const distinct = new Map(weeks.map((week) => [week.fromMs, week]));
  const failures: unknown[] = [];
  for (const range of [...distinct.values()].flatMap((week) => uncovered(week, covered))) {
    await database.execute(createPartition(table, range)).catch((error: unknown) => failures.push(error));
  }
  return failures;
}

/** Faults of the partitions, for an operator; empty when there are none. */
export async function findPartitionFaults(database: Database, nowMs: number): Promise<string[]> {
  const faults: string[] = [];
  for (const { table } of partitionedTables) {
    const name = getTableName(table);
    const covered = (await listPartitions(database, table)).flatMap(({ range }) => range ?? []);
    for (const week of [weekOf(nowMs), weekOf(nowMs, 1)]) {
      if (uncovered(week, covered).length > 0)
        faults.push(`${name} has no partition for the week of ${dateOf(week.fromMs)}`);
    }
    const rows = await database.execute(sql`SELECT 1 FROM ${defaultOf(table)} LIMIT 1`);
    if (rows.length > 0)
      faults.push(`${name}_default holds rows: an ingest's clock was ahead when it received them`);
  }
  return faults;
}

/** The weeks of the UUIDv7 in the default partition. */
async function findDefaultWeeks(database: Database, { table, key }: PartitionedTable): Promise<TimeRange[]> {
  const rows = await database.execute<{ day: number }>(sql`
    SELECT DISTINCT floor(extract(epoch FROM uuid_extract_timestamp(${nameOf(key)})) / 86400)::float8 AS day
    FROM ${defaultOf(table)} WHERE uuid_extract_version(${nameOf(key)}) = 7`);
  return rows.map(({ day }) => weekOf(day * dayMs));
}

/**
 * One statement, hence one transaction. Attaching a separate table locks the parent against other DDL only,
 * and the default partition, in which ATTACH looks for rows of the new range.
 */
function createPartition({ table, key }: PartitionedTable, { fromMs, toMs }: TimeRange): SQL {
  const [from, to] = [boundOf(fromMs), boundOf(toMs)].map((bound) => sql.raw(`'${bound}'`));
  const partition = sql`${sql.identifier(`${getTableName(table)}_${dateOf(fromMs)}`)}`;
  const isInside = sql`${nameOf(key)} >= ${from} AND ${nameOf(key)} < ${to}`;
  return sql`
DO $$
BEGIN
  -- On Citus, applies the lock time-out to the workers, too.
  SET LOCAL citus.propagate_set_commands = 'local';
  SET LOCAL lock_timeout = '${sql.raw(String(ddlLockTimeoutMs))}ms';
  LOCK TABLE ${defaultOf(table)} IN SHARE ROW EXCLUSIVE MODE;
  IF to_regclass('${partition}') IS NOT NULL THEN RETURN; END IF;
  CREATE TABLE ${partition} (LIKE ${table} INCLUDING DEFAULTS INCLUDING STORAGE);
  WITH moved AS (DELETE FROM ${defaultOf(table)} WHERE ${isInside} RETURNING *)
    INSERT INTO ${partition} SELECT * FROM moved;
  ALTER TABLE ${table} ATTACH PARTITION ${partition} FOR VALUES FROM (${from}) TO (${to});
END $$`;
}

function defaultOf(table: PgTable): SQL {
  return sql`${sql.identifier(`${getTableName(table)}_default`)}`;
}

/** @param bounds as Postgres writes them: `FOR VALUES FROM ('019a…') TO ('019a…')`, or `DEFAULT`. */
function parseBounds(bounds: string): TimeRange | undefined {
  const [, from, to] = /FROM \('(.*)'\) TO \('(.*)'\)/.exec(bounds) ?? [];
  if (from === undefined || to === undefined) return undefined;
  return { fromMs: millisecondOf(from), toMs: millisecondOf(to) };
}
