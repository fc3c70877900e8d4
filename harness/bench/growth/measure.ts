import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { getTableName } from 'drizzle-orm';
import { createLatencies } from '../../../lib/client/latencies.ts';
import { openPostgres, type Sql } from '../../../lib/db/connect.ts';
import { type Database, openDatabase } from '../../../lib/db/database.ts';
import { ensurePartitions, partitionedTables } from '../../../lib/db/partitions.ts';
import { setPlannerStatistics } from '../../../lib/db/planner-statistics.ts';
import { boundOf, dateOf, weekOf } from '../../../lib/db/weeks.ts';
import { dayMs } from '../../../lib/time.ts';
import type { RunningWeir } from '../../system/weir.ts';
import { openDashboardClient } from '../dashboard/dashboard-client.ts';
import { growEvents, grownDays } from '../filters/growth.ts';
import { measureLists } from '../filters/lists.ts';
import { measureBytesPerEvent } from '../storage/sizes.ts';
import { drawGraph } from './graph.ts';
import { measureEventSize, measureSpaces } from './stores.ts';

/** A figure at one size of its part: rows, bytes of an event, spaces, or weeks. */
interface Figure {
  readonly part: keyof typeof axes;
  readonly name: string;
  readonly at: number;
  readonly value: number;
}

type Add = (part: Figure['part'], name: string, at: number, value: number) => void;

/** The parts. Each is one graph: growth-<part>.svg. */
const axes = {
  rate: { title: 'Storing events as a space grows', x: 'events in the space', y: 'events/s' },
  reads: { title: 'Reading as a space grows: p50', x: 'events in the space', y: 'ms' },
  bytes: { title: 'Bytes in Postgres for each event', x: 'events in the space', y: 'bytes' },
  sizes: {
    title: 'Storing events by their size, in the full database',
    x: 'bytes of an event',
    y: 'events/s',
  },
  spaces: {
    title: 'Storing 500 segments of one event in a statement, in the full database',
    x: 'spaces',
    y: 'events/s',
  },
  weeks: { title: 'Reading with empty weekly partitions: p50', x: 'weeks', y: 'ms' },
} as const;

/** The sizes, as shares of the largest one: with 50 million rows 1, 10 and 50 million. */
const shares = [1 / 50, 1 / 5, 1];
/** Events whose storing is timed at each size, at most. */
const timedEvents = 20_000;
const eventSizes = [1_000, 6_000, 100_000];
const spaceCounts = [1, 100, 10_000];
const weekCounts = [0, 52, 260];
const chartTimes = 20;
/** The lists in the graphs; the table has all. */
const drawnReads = [
  'no filter',
  'name: frequent',
  'name: rare',
  'name: absent',
  'user: frequent',
  'trace',
  'get',
  'chart of 30 days',
];

/** The pictures and the figures as JSON. */
const pictures = fileURLToPath(new URL('../../../docs/pictures/growth-', import.meta.url));

/** Measures writes, reads and bytes at growing sizes. @returns a table; also writes a graph for each part, and the figures as JSON. */
export async function measureGrowth(
  weir: RunningWeir,
  { rows, say }: { rows: number; say: (text: string) => void },
): Promise<string> {
  const { databaseUrl, spaceId } = weir.connection;
  await using sql = openPostgres(databaseUrl, {
    applicationName: 'weir-bench',
    connectionsMax: 4,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  const figures: Figure[] = [];
  const add: Add = (part, name, at, value) => {
    figures.push({ part, name, at, value });
    say(`${part}, ${name} at ${at}: ${value.toFixed(1)}`);
  };
  const nowMs = Date.now();
  for (let day = grownDays + 7; day >= 0; day -= 7) await ensurePartitions(database, nowMs - day * dayMs);
  const measureReads = async (part: 'reads' | 'weeks', at: number) => {
    const lists = await measureLists(database, spaceId, { rows, nowMs });
    for (const { name, p50Ms } of lists) add(part, name, at, p50Ms);
    add(part, 'chart of 30 days', at, await measureChart(weir, nowMs));
  };
  let from = 0;
  for (const to of [0, ...shares.map((share) => Math.round(rows * share))]) {
    const timed = Math.min(timedEvents, rows / 50);
    const startMsOf = (index: number) =>
      Math.round(nowMs - ((rows * 2 - index) / rows / 2) * grownDays * dayMs);
    const growth = { retiredUntil: rows / 2, startMsOf, say };
    if (to > from) await growEvents(database, spaceId, { ...growth, from, to });
    from = Math.max(from, to);
    await sql`VACUUM ANALYZE`;
    const startedMs = performance.now();
    await growEvents(database, spaceId, { ...growth, from, to: from + timed });
    add('rate', 'three connections', to, (timed * 1_000) / (performance.now() - startedMs));
    from += timed;
    await measureReads('reads', to);
    add('bytes', 'all tables', to, await measureBytesPerEvent(sql));
  }
  for (const weeks of weekCounts) {
    await addWeeks(sql, database, weeks, nowMs - (grownDays + 14) * dayMs);
    await measureReads('weeks', weeks);
  }
  // Last, because it changes which events of the space are the newest.
  await measureStores(database, spaceId, add);
  writeResults(figures);
  return renderFigures(figures);
}

/** Stores events of several sizes and in several numbers of spaces. The database is full, so these compare with each other. */
async function measureStores(database: Database, spaceId: string, add: Add): Promise<void> {
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

function writeResults(figures: readonly Figure[]): void {
  for (const [part, { title, x, y }] of Object.entries(axes)) {
    const own = figures.filter(
      (figure) => figure.part === part && (y !== 'ms' || drawnReads.includes(figure.name)),
    );
    const series = [...Map.groupBy(own, ({ name }) => name)].map(([name, all]) => ({
      name,
      points: all.map(({ at, value }) => [at, value] as const),
    }));
    writeFileSync(`${pictures}${part}.svg`, drawGraph({ title, xTitle: x, yTitle: y, series }));
  }
  const lines = figures.map((figure) => JSON.stringify(figure));
  writeFileSync(`${pictures}figures.json`, `[\n${lines.join(',\n')}\n]\n`);
}

/** A line for each name, a column for each size. */
function renderFigures(figures: readonly Figure[]): string {
  return Object.entries(axes)
    .map(([part, { title, x, y }]) => {
      const own = figures.filter((figure) => figure.part === part);
      const sizes = [...new Set(own.map(({ at }) => at))];
      const lines = [...Map.groupBy(own, ({ name }) => name)].map(([name, all]) =>
        [name.padEnd(34), ...all.map(({ value }) => value.toFixed(1).padStart(12))].join(''),
      );
      const head = [x.padEnd(34), ...sizes.map((size) => size.toLocaleString('en').padStart(12))].join('');
      return [`${title}, ${y}`, head, ...lines].join('\n');
    })
    .join('\n\n');
}
