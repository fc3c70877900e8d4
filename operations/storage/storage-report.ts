import { getTableName, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { pick } from '../../platform/pick.ts';
import type { Database } from '../../store/db/database.ts';
import { defaultEvents, defaultSegments } from '../../store/db/partitions.ts';
import {
  agentStats,
  agentStatsRollups,
  dimensionValues,
  eventIds,
  eventStats,
  eventStatsRollups,
  quarantine,
  segments,
  sliceStats,
  sliceStatsRollups,
  spaces,
  statisticDeltas,
  storeDelays,
  usageMonths,
} from '../../store/db/schema.ts';
import { effectiveRetentionDays, expiryOf } from '../../store/retention/policy.ts';
import { listWeekPartitions, type WeekPartitions } from '../../store/retention/week-partitions.ts';
import { type Measure, openMeasure, readEstimate } from './storage-sizes.ts';

export type PartitionReport = Awaited<ReturnType<typeof reportPartition>>;

/** Bytes include indexes and TOAST. Scans an index of every partition: seconds for 100 million rows. */
export async function reportStorage(database: Database, retentionDaysMax: number | undefined) {
  const rows = await database.select(pick(spaces, 'id', 'retentionDays')).from(spaces);
  const daysOf = new Map(
    rows.map(({ id, retentionDays }) => [id, effectiveRetentionDays(retentionDays, retentionDaysMax)]),
  );
  const measure = await openMeasure(database);
  const weeks = await listWeekPartitions(database);
  const partitions: PartitionReport[] = [];
  for (const week of weeks) partitions.push(await reportPartition(database, week, { daysOf, measure }));
  const bytesOf = async (tables: readonly PgTable[]) => {
    let bytes = 0;
    for (const table of tables) bytes += await measure(getTableName(table));
    return bytes;
  };
  const ledgerBytes = await bytesOf([eventIds]);
  const statisticsBytes = await bytesOf(statisticsTables);
  const quarantineBytes = await bytesOf([quarantine]);
  const defaultPartition = {
    events: await countRows(database, defaultEvents),
    segments: await countRows(database, defaultSegments),
    bytes: (await measure(defaultEvents)) + (await measure(defaultSegments)),
  };
  const inPartitions = partitions.reduce((sum, one) => sum + one.eventBytes + one.segmentBytes, 0);
  const next = partitions
    .filter((one) => one.expiresAt !== null && one.spaces > 0)
    .toSorted((a, b) => (a.expiresAt ?? '').localeCompare(b.expiresAt ?? ''))[0];
  return {
    /** RETENTION_DAYS_MAX of this process. */
    retentionDaysMax: retentionDaysMax ?? null,
    /** Weekly partitions by receipt time, oldest first. */
    partitions,
    /** Rows outside of all weeks, from ingest processes with a wrong clock. */
    defaultPartition,
    /** The ledger of event ids, which is kept when events expire. */
    ledgerBytes,
    statisticsBytes,
    quarantineBytes,
    totalBytes: inPartitions + defaultPartition.bytes + ledgerBytes + statisticsBytes + quarantineBytes,
    /** The partitions that are dropped next, and when; null when none ever will be. */
    nextDrop: next === undefined ? null : { partitions: next.partitions, at: next.expiresAt ?? '' },
  };
}

const statisticsTables: readonly PgTable[] = [
  ...[eventStats, agentStats, eventStatsRollups, agentStatsRollups, statisticDeltas],
  ...[sliceStats, sliceStatsRollups, dimensionValues, storeDelays, usageMonths],
];

/** @param daysOf the effective retention of each space, in days; undefined is unlimited. */
async function reportPartition(
  database: Database,
  { range, ...names }: WeekPartitions,
  { daysOf, measure }: { daysOf: ReadonlyMap<string, number | undefined>; measure: Measure },
) {
  const bytesOf = async (name: string | undefined) => (name === undefined ? 0 : measure(name));
  const spaceIds = names.segments === undefined ? [] : await findSpaces(database, names.segments);
  const days = spaceIds.map((spaceId) => daysOf.get(spaceId));
  const longest = days.includes(undefined) ? undefined : Math.max(0, ...days.map((one) => one ?? 0));
  const expiresAtMs = expiryOf(range.toMs, longest);
  return {
    from: new Date(range.fromMs).toISOString(),
    /** End, excluded. */
    to: new Date(range.toMs).toISOString(),
    partitions: [names.events, names.segments].flatMap((name) => name ?? []),
    /** An estimate of the Postgres planner. */
    events: await estimateRows(database, names.events),
    eventBytes: await bytesOf(names.events),
    segmentBytes: await bytesOf(names.segments),
    spaces: spaceIds.length,
    /** When all its rows will have expired; null when some never expire. */
    expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
  };
}

async function findSpaces(database: Database, partition: string): Promise<string[]> {
  const rows = await database.execute<{ spaceId: string }>(sql`
    SELECT DISTINCT ${segments.spaceId} AS "spaceId" FROM ${sql.identifier(partition)} AS ${segments}`);
  return rows.map(({ spaceId }) => spaceId);
}

async function countRows(database: Database, table: string): Promise<number> {
  const [row] = await database.execute<{ rows: number }>(
    sql`SELECT count(*)::float8 AS rows FROM ${sql.identifier(table)}`,
  );
  return row?.rows ?? 0;
}

/** Estimates rows, or counts them when the table was never analyzed. */
async function estimateRows(database: Database, name: string | undefined): Promise<number> {
  if (name === undefined) return 0;
  return (await readEstimate(database, name)) ?? countRows(database, name);
}
