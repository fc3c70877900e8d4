import { randomUUIDv7 } from 'node:crypto';
import { getTableName } from 'drizzle-orm';
import { createLatencies } from '../../../cli/client/latencies.ts';
import { openDashboardClient } from '../../../harness/system/dashboard-client.ts';
import type { RunningWeir } from '../../../harness/system/weir.ts';
import { dayMs } from '../../../platform/time.ts';
import { openPostgres, type Sql } from '../../../store/db/connect.ts';
import { type Database, openDatabase } from '../../../store/db/database.ts';
import { ensurePartitions, partitionedTables } from '../../../store/db/partitions.ts';
import { setPlannerStatistics } from '../../../store/db/planner-statistics.ts';
import { boundOf, dateOf, weekOf } from '../../../store/db/weeks.ts';
import { foldStatistics } from '../../../store/write/statistics/fold.ts';
import { growEvents, grownDays } from '../filters/growth.ts';
import { measureLists } from '../filters/lists.ts';
import { measureBytesPerEvent } from '../storage/sizes.ts';
import { isDiskFull } from './disk.ts';
import { type Figure, mergeFigures, readFigures, renderFigures, writeFigures } from './figures.ts';
import { measureEventSize, measureSpaces } from './stores.ts';

export interface GrowthOptions {
  /** The numbers of events at which everything is measured, ascending. */
  readonly points: readonly number[];
  /** How long filling may take. What the space then has is measured as the last point. */
  readonly fillMinutes: number;
  /** Keeps the figures of other points in growth-figures.json. */
  readonly isMerging: boolean;
  readonly say: (text: string) => void;
}

type Add = (part: Figure['part'], name: string, at: number, value: number) => void;

/**
 * Events whose storing is timed at each size, at most: some ten seconds. A second is shorter than a pause of
 * the disk.
 */
const timedEvents = 200_000;
const eventSizes = [1_000, 6_000, 100_000];
const spaceCounts = [1, 100, 10_000];
const weekCounts = [0, 52, 260];
const chartTimes = 20;

/**
 * @returns the points of a list such as `0,1000000`; without one 0, and a fiftieth, a fifth and all of the
 * rows.
 */
export function parsePoints(list: string | undefined, rows: number): number[] {
  if (list === undefined) return [0, 1 / 50, 1 / 5, 1].map((share) => Math.round(rows * share));
  const points = list.split(',').map(Number);
  const isAscending = points.every((point, i) => Number.isInteger(point) && point > (points[i - 1] ?? -1));
  if (!isAscending) throw new Error('--points takes whole numbers in ascending order, separated by commas');
  return points;
}

/**
 * Measures writes, reads and bytes at growing sizes. Writes a graph for each part, and the figures as JSON,
 * after each point: a run that is interrupted has what it measured.
 *
 * @returns a table.
 */
export async function measureGrowth(weir: RunningWeir, options: GrowthOptions): Promise<string> {
  const { databaseUrl, spaceId } = weir.connection;
  const { points, isMerging, say } = options;
  await using sql = openPostgres(databaseUrl, {
    applicationName: 'weir-bench',
    connectionsMax: 4,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  const earlier = readFigures();
  const figures: Figure[] = [];
  const add: Add = (part, name, at, value) => {
    figures.push({ part, name, at, value });
    say(`${part}, ${name} at ${at}: ${value.toFixed(1)}`);
  };
  const write = () => writeFigures(mergeFigures(earlier, figures, isMerging));
  const nowMs = Date.now();
  for (let day = grownDays + 7; day >= 0; day -= 7) await ensurePartitions(database, nowMs - day * dayMs);
  const measureReads = async (part: 'reads' | 'weeks', at: number, rows: number) => {
    // A new connection: Postgres compares the costs of a kept plan with the mean of all plans of a
    // connection, so one that was opened when the tables were small plans some hundreds of lists anew.
    await using fresh = openPostgres(databaseUrl, { applicationName: 'weir-bench', statementTimeoutMs: 0 });
    const lists = await measureLists(openDatabase(fresh), spaceId, { rows, nowMs });
    for (const { name, p50Ms } of lists) add(part, name, at, p50Ms);
    add(part, 'chart of 30 days', at, await measureChart(weir, nowMs));
  };
  const fill = createFill(database, spaceId, { ...options, nowMs });
  let isStopped = false;
  for (const point of points) {
    if (isStopped) break;
    isStopped = await fill.growTo(point);
    const rows = fill.size();
    while ((await foldStatistics(database)) > 0);
    await sql`VACUUM ANALYZE`;
    add('rate', 'three connections', rows, await fill.timeStores());
    await measureReads('reads', rows, rows);
    add('bytes', 'all tables', rows, await measureBytesPerEvent(sql));
    write();
  }
  await measureStores(database, add);
  write();
  for (const weeks of weekCounts) {
    await addWeeks(sql, database, weeks, nowMs - (grownDays + 14) * dayMs);
    await measureReads('weeks', weeks, fill.size());
    write();
  }
  return renderFigures(mergeFigures(earlier, figures, isMerging));
}

/**
 * Fills the space with events of half of {@link grownDays}, so that the last ones are older than what is
 * stored to be timed later.
 */
function createFill(
  database: Database,
  spaceId: string,
  { points, fillMinutes, nowMs, say }: GrowthOptions & { nowMs: number },
) {
  const rowsMax = Math.max(...points);
  const timed = Math.min(timedEvents, Math.ceil(rowsMax / 50));
  const startMsOf = (index: number) =>
    Math.round(nowMs - ((rowsMax * 2 - index) / rowsMax / 2) * grownDays * dayMs);
  const growth = { retiredUntil: rowsMax / 2, startMsOf, say };
  const deadlineMs = performance.now() + fillMinutes * 60_000;
  const isOver = () => performance.now() > deadlineMs || isDiskFull();
  let next = 0;
  return {
    /** The events in the space. */
    size: () => next,
    /** @returns whether it stopped before, since the time is over or the disk is full. */
    async growTo(rows: number): Promise<boolean> {
      if (rows <= next) return false;
      next = await growEvents(database, spaceId, { ...growth, from: next, to: rows, isOver });
      if (next < rows)
        say(`stopped at ${next} events: ${isDiskFull() ? 'the disk is full' : 'time is over'}`);
      return next < rows;
    },
    /** @returns events per second. */
    async timeStores(): Promise<number> {
      const startedMs = performance.now();
      next = await growEvents(database, spaceId, { ...growth, from: next, to: next + timed });
      return (timed * 1_000) / (performance.now() - startedMs);
    },
  };
}

/**
 * Stores events of several sizes and in several numbers of spaces. The database is full, so these compare
 * with each other.
 */
async function measureStores(database: Database, add: Add): Promise<void> {
  // Not the space whose lists are measured: its newest events would be others.
  const spaceId = randomUUIDv7();
  for (const bytes of eventSizes)
    add('sizes', 'one connection', bytes, await measureEventSize(database, spaceId, bytes));
  for (const spaces of spaceCounts)
    add('spaces', 'one connection', spaces, await measureSpaces(database, spaces));
}

/** Creates empty partitions for the weeks before an instant, as if events had been kept for so long. */
async function addWeeks(sql: Sql, database: Database, weeks: number, beforeMs: number): Promise<void> {
  for (const table of partitionedTables.map(({ table }) => getTableName(table)))
    for (let week = 1; week <= weeks; week++) {
      const { fromMs, toMs } = weekOf(beforeMs, -week);
      await sql.unsafe(
        `CREATE TABLE IF NOT EXISTS ${table}_${dateOf(fromMs)} PARTITION OF ${table} FOR VALUES FROM ('${boundOf(fromMs)}') TO ('${boundOf(toMs)}')`,
      );
    }
  await setPlannerStatistics(database);
}

/** The p50 of a chart by day through the dashboard API, in milliseconds. */
async function measureChart(weir: RunningWeir, nowMs: number): Promise<number> {
  const { trpc } = await openDashboardClient(weir.connection);
  const { spaceId } = weir.connection;
  const latencies = createLatencies();
  for (let i = 0; i < chartTimes; i++) {
    const startedMs = performance.now();
    await trpc.charts.events.query({
      spaceId,
      from: nowMs - grownDays * dayMs,
      to: nowMs,
      step: 'day',
      timeZone: 'UTC',
    });
    latencies.record(performance.now() - startedMs);
  }
  return latencies.percentileMs(50);
}
