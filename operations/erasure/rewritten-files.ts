import { setTimeout as sleep } from 'node:timers/promises';
import { getTableName, is, sql } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { tryAdvisoryLock } from '../../store/db/advisory-lock.ts';
import { readServerClock } from '../../store/db/clock.ts';
import type { Database } from '../../store/db/database.ts';
import { distributedTables } from '../../store/db/layout/distribution.ts';
import { layoutOf } from '../../store/db/layout/layout.ts';
import { defaultEvents, defaultSegments } from '../../store/db/partitions.ts';
import * as schema from '../../store/db/schema.ts';
import { isLockConflict } from '../../store/retention/delete-expired.ts';
import { expireLock } from '../../store/retention/expire.ts';
import { rewrittenEventsMax } from '../../store/retention/limits.ts';
import {
  copyWhenUnseen,
  findHolder,
  noWait,
  readNextTransaction,
  type WritersWait,
} from '../../store/retention/older-snapshots.ts';
import { readFill } from '../../store/retention/partition-fill.ts';
import { copyPartitions } from '../../store/retention/partition-rewrite.ts';
import { listWeekPartitions, type WeekPartitions } from '../../store/retention/week-partitions.ts';
import {
  dropMovedShards,
  type RewrittenFiles,
  rewriteOnCluster,
  statisticsTable,
} from './cluster/cluster-files.ts';
import { type Erasure, noteWritten, readUnwritten } from './erasure-row.ts';
import {
  retentionPollMs,
  retentionWaitMs,
  rewrittenBytesMax,
  vacuumLockTimeoutMs,
  writersWaitMs,
} from './limits.ts';

export const nodesTable = getTableName(schema.traceNodes);

/** Rewritten whole: those without partitions. */
const wholeTables: readonly string[] = Object.values(schema)
  .filter((one) => is(one, PgTable))
  .filter((table) => table !== schema.events && table !== schema.segments)
  .map(getTableName);

/** On Citus: tables of the coordinator. */
const distributed = distributedTables.map(getTableName);
const localTables = wholeTables.filter((name) => !distributed.includes(name));

/**
 * Rewrites the tables that had erased rows into new files: a deleted row's bytes stay in free space of a
 * page, also after VACUUM. Readers continue; writers of the same week wait for the copy.
 * @returns `left`: partitions with too many events, and tables with too many bytes, to copy while writers
 * wait, and tables that could not be locked. While a long pass of retention runs, all tables.
 */
export async function rewriteFiles(
  database: Database,
  erasure: Pick<Erasure, 'spaceId'>,
  report: (table: string) => void,
): Promise<RewrittenFiles> {
  const unwritten = await readUnwritten(database, erasure);
  // Statistics last: rewriting a partition also deletes its statistics rows.
  const tables = unwritten.toSorted((a, b) => Number(a === statisticsTable) - Number(b === statisticsTable));
  const rewritten: string[] = [];
  const left: string[] = [];
  if (tables.length === 0) return { rewritten, left };
  // Polls: a waiting statement would hold a snapshot, and keep VACUUM from removing newer rows.
  await using lock = await untilLocked(database);
  if (lock === undefined) return { rewritten, left: await namesOfTables(database, tables) };
  const untilMs = performance.now() + writersWaitMs;
  const { isCluster } = await layoutOf(database);
  if (isCluster) left.push(...(await dropMovedShards(database)));
  for (const table of tables) {
    report(table);
    const wait: WritersWait = { untilMs, report: () => report(`${table}: waiting for older transactions`) };
    if (isCluster && !localTables.includes(table)) {
      const files = await rewriteOnCluster(database, erasure.spaceId, { table, wait });
      rewritten.push(...files.rewritten);
      left.push(...files.left);
      if (files.left.length === 0) await noteWritten(database, erasure, table);
      continue;
    }
    const names = await namesOfTable(database, table);
    const isDone = await rewriteTable(database, table, wait);
    (isDone ? rewritten : left).push(...names);
    if (isDone) await noteWritten(database, erasure, table);
  }
  return { rewritten, left };
}

/** Waits for a pass of retention to end. @returns undefined after the time limit. */
async function untilLocked(database: Database): Promise<AsyncDisposable | undefined> {
  const deadlineMs = performance.now() + retentionWaitMs;
  for (;;) {
    const lock = await tryAdvisoryLock(database, sql`${expireLock}`);
    if (lock !== undefined || performance.now() > deadlineMs) return lock;
    await sleep(retentionPollMs);
  }
}

async function namesOfTables(database: Database, tables: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for (const table of tables) names.push(...(await namesOfTable(database, table)));
  return names;
}

async function namesOfTable(database: Database, table: string): Promise<string[]> {
  if (wholeTables.includes(table) || table === statisticsTable) return [table];
  if (table === defaultSegments) return [defaultEvents, defaultSegments];
  const week = await findWeek(database, table);
  return [week?.events, week?.segments].flatMap((name) => name ?? []);
}

/**
 * @param table a partition of segments, a table without partitions, or the statistics.
 * @returns whether the files no longer contain erased data.
 */
async function rewriteTable(database: Database, table: string, wait: WritersWait): Promise<boolean> {
  if (wholeTables.includes(table)) {
    await database.execute(sql`VACUUM (ANALYZE) ${sql.identifier(table)}`);
    if ((await readFill(database, table)).rows > rewrittenEventsMax) return false;
    if ((await sizeOf(database, table)) > rewrittenBytesMax) return false;
    return vacuumFull(database, table, wait);
  }
  if (table === statisticsTable) return rewriteStatistics(database, wait);
  if (table === defaultSegments)
    return (
      (await vacuumFull(database, defaultEvents, wait)) && (await vacuumFull(database, defaultSegments, wait))
    );
  const week = await findWeek(database, table);
  // Retention dropped or rewrote it meanwhile.
  if (week?.events === undefined || week.segments === undefined) return week === undefined;
  for (const name of [week.events, week.segments])
    await database.execute(sql`VACUUM (ANALYZE) ${sql.identifier(name)}`);
  if ((await readFill(database, week.events)).rows > rewrittenEventsMax) return false;
  const isWritten = week.range.toMs > (await readServerClock(database));
  return copyPartitions(database, week, isWritten);
}

/** With what is stored out of line, such as media. */
async function sizeOf(database: Database, table: string): Promise<number> {
  const [row] = await database.execute<{ bytes: number }>(
    sql`SELECT pg_table_size(to_regclass(${table}))::float8 AS bytes`,
  );
  return row?.bytes ?? 0;
}

async function findWeek(database: Database, table: string): Promise<WeekPartitions | undefined> {
  return (await listWeekPartitions(database)).find((one) => one.segments === table);
}

/** Postgres samples frequent values, also texts, as statistics of partitions and of the partitioned table. */
async function rewriteStatistics(database: Database, wait: WritersWait): Promise<boolean> {
  const tables = [getTableName(schema.events), getTableName(schema.segments)];
  const analyzed = await database.execute<{ name: string }>(sql`
    SELECT DISTINCT tablename AS name FROM pg_stats
    WHERE inherited AND schemaname = current_schema() AND tablename = ANY (${`{${tables.join()}}`}::text[])`);
  for (const { name } of analyzed) {
    await forgetSamples(database, name);
    await database.execute(sql`ANALYZE ${sql.identifier(name)}`);
  }
  const fileOf = async () => {
    const [row] = await database.execute<{ node: number }>(
      sql`SELECT pg_relation_filenode(${statisticsTable}::regclass)::bigint::float8 AS node`,
    );
    return row?.node;
  };
  const before = await fileOf();
  // Postgres only warns when the user lacks the permission, so the file is compared.
  return (await vacuumFull(database, statisticsTable, wait)) && (await fileOf()) !== before;
}

/**
 * For small tables only: blocks readers.
 * @returns false when others lock the table, or an older transaction may see deleted rows, which VACUUM would
 * copy.
 */
export async function vacuumFull(database: Database, table: string, wait = noWait): Promise<boolean> {
  const xid = await readNextTransaction(database);
  await database.execute(sql`SELECT set_config('lock_timeout', ${`${vacuumLockTimeoutMs}ms`}, false)`);
  try {
    return await copyWhenUnseen(
      () => findHolder(database, xid, { isCatalog: table === statisticsTable }),
      () => tryVacuum(database, table),
      wait,
    );
  } finally {
    await database.execute(sql`SELECT set_config('lock_timeout', '0', false)`);
  }
}

async function tryVacuum(database: Database, table: string): Promise<boolean> {
  try {
    await forgetSamples(database, table);
    await database.execute(sql`VACUUM (FULL, ANALYZE) ${sql.identifier(table)}`);
    return true;
  } catch (error) {
    if (isLockConflict(error)) return false;
    throw error;
  }
}

/** ANALYZE leaves the samples of a table that has no rows any more. */
async function forgetSamples(database: Database, table: string): Promise<void> {
  await database.execute(sql`
    SELECT pg_clear_attribute_stats(schemaname::text, tablename::text, attname::text, inherited)
    FROM pg_stats WHERE schemaname = current_schema() AND tablename = ${table}`);
}
