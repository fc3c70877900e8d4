import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { llmEvent, someEvents } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { type DashboardClient, openDashboardClient } from '../../../harness/system/dashboard-client.ts';
import { peakResidentBytes } from '../../../harness/system/process-stats.ts';
import type { RunningWeir } from '../../../harness/system/weir.ts';
import { until } from '../../../harness/wait.ts';
import { hourMs } from '../../../platform/time.ts';
import { createSpace } from '../../../store/accounts/spaces.ts';
import { openPostgres, type Sql } from '../../../store/db/connect.ts';
import { type Database, openDatabase } from '../../../store/db/database.ts';
import { spaces } from '../../../store/db/schema.ts';
import { foldStatistics } from '../../../store/write/statistics/fold.ts';
import { listDimensions } from '../../../store/write/statistics/list-dimensions.ts';
import { growSpace } from '../filters/growth.ts';
import type { Workload } from '../workload.ts';
import { callsOf, declared } from './calls.ts';
import { measureExport } from './export.ts';
import { measureTailLatency, openTails } from './live-tails.ts';
import { type CallFigure, measureProcedures } from './procedures.ts';
import { measureSlowdown, renderSlowdown } from './slowdown.ts';

const smallSpaces = 1_000;
const smallSpaceEvents = 20;
const tailCount = 200;
const tailSamples = 60;
/**
 * Pairs of measurements, with and without streams in turn, so that other work on the machine affects both.
 */
const slowdownPairs = 3;

export interface DashboardOptions {
  rows: number;
  seconds: number;
  say: (text: string) => void;
}

/**
 * Fills one space with `rows` events and 1,000 spaces with a few, and measures the dashboard's calls, streams
 * and an export.
 * @returns a table.
 */
export async function measureDashboard(
  weir: RunningWeir,
  workload: Workload,
  { rows, seconds, say }: DashboardOptions,
): Promise<string> {
  const { connection } = weir;
  await using sql = openBench(connection);
  await fillSmallSpaces(openDatabase(sql));
  const { client, calls } = await measureCalls(weir, sql, { rows, say });
  say('measuring an export …');
  const exported = await measureExport(connection, client, weir.pidOf('dashboard-api'));
  say(`measuring with ${tailCount} live streams …`);
  const { tailP50Ms, tailP99Ms } = await withTails((tails) =>
    measureTailLatency(connection, tails, { workload, samples: tailSamples }),
  );
  const slowdown = await measureSlowdown(weir, workload, {
    pairs: slowdownPairs,
    seconds,
    withStreams: (measure) => withTails(measure),
  });
  const bytes = peakResidentBytes(weir.pidOf('dashboard-api'));
  return [
    ...calls.map(renderCall),
    line(`202 to ${tailCount} streams`, tailP50Ms, tailP99Ms, 1_000),
    ...renderSlowdown(slowdown, tailCount),
    `export of ${exported.rows} rows as CSV: ${Math.round(exported.rowsPerSecond).toLocaleString('en')} rows/s, goal 20,000; memory ${mebibytes(exported.peakBytes)}, goal 150 MiB`,
    `peak memory of dashboard-api ${mebibytes(bytes)}`,
  ].join('\n');

  async function withTails<T>(measure: (tails: Awaited<ReturnType<typeof openTails>>) => Promise<T>) {
    using tails = await openTails(connection, client.cookie(), tailCount);
    return await measure(tails);
  }
}

/** Fills one space with `rows` events and measures what its pages read. @returns a table. */
export async function measureDashboardCalls(
  weir: RunningWeir,
  options: Pick<DashboardOptions, 'rows' | 'say'>,
): Promise<string> {
  await using sql = openBench(weir.connection);
  const { calls } = await measureCalls(weir, sql, options);
  return calls.map(renderCall).join('\n');
}

async function measureCalls(
  weir: RunningWeir,
  sql: Sql,
  { rows, say }: Pick<DashboardOptions, 'rows' | 'say'>,
): Promise<{ client: DashboardClient; calls: CallFigure[] }> {
  const { spaceId } = weir.connection;
  const database = openDatabase(sql);
  const nowMs = Date.now();
  await growSpace(database, spaceId, { rows, nowMs, say });
  const trace = await storeTrace(database, spaceId, nowMs);
  say('counting by dimensions …');
  await database
    .update(spaces)
    .set({ dimensions: [...declared] })
    .where(eq(spaces.id, spaceId));
  // The writers count what is stored.
  const isCounted = async () =>
    (await listDimensions(database, spaceId)).every(({ counted }) => counted === 1);
  await until(isCounted, hourMs);
  while ((await foldStatistics(database)) > 0);
  await sql`VACUUM ANALYZE`;
  const client = await openDashboardClient(weir.connection);
  // A model without a price would cost nothing.
  for (const model of ['name-1', 'name-2', 'name-4', 'name-5'])
    await client.trpc.prices.set.mutate({ spaceId, model, input: '2.50', output: '10' });
  say('measuring procedures …');
  const processes = { apiPid: weir.pidOf('dashboard-api'), postgresPid: weir.pidOf('postgres') };
  const calls = callsOf(client, { spaceId, rows, nowMs, ...trace });
  return { client, calls: await measureProcedures(calls, processes, say) };
}

function openBench({ databaseUrl }: RunningWeir['connection']) {
  return openPostgres(databaseUrl, {
    applicationName: 'weir-bench',
    connectionsMax: 4,
    statementTimeoutMs: 0,
  });
}

async function fillSmallSpaces(database: Database): Promise<void> {
  for (let i = 0; i < smallSpaces; i++) {
    const { id } = await createSpace(database, `small ${i}`);
    await insertParts(database, [partOf(id, someEvents(smallSpaceEvents))]);
  }
}

/** One trace of 200 events, in the thread of the same name, sent by twenty requests. */
async function storeTrace(database: Database, spaceId: string, nowMs: number) {
  const traceId = randomUUID();
  const events = Array.from({ length: 200 }, (_, i) =>
    llmEvent({ traceId, startTimeMs: nowMs + i, endTimeMs: nowMs + i + 5, context: { threadId: traceId } }),
  );
  for (let i = 0; i < events.length; i += 10) {
    await insertParts(database, [partOf(spaceId, events.slice(i, i + 10))]);
  }
  return { traceId, threadId: traceId, eventIds: events.map(({ id }) => String(id)) };
}

function renderCall({ name, p50Ms, p99Ms, goalMs, apiCpuMs, postgresCpuMs }: CallFigure): string {
  const cpu = `CPU ${apiCpuMs.toFixed(1)} + ${postgresCpuMs.toFixed(1)} ms`;
  return line(name, p50Ms, p99Ms, goalMs, cpu);
}

/** @param cpu CPU time of dashboard-api and Postgres. */
function line(name: string, p50Ms: number, p99Ms: number, goalMs: number, cpu = ''): string {
  return [
    name.padEnd(44),
    `p50 ${p50Ms.toFixed(1)} ms`.padEnd(16),
    `p99 ${p99Ms.toFixed(1)} ms`.padEnd(16),
    cpu.padEnd(22),
    `goal ${goalMs} ms${p99Ms > goalMs ? ', MISSED' : ''}`,
  ].join('');
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
