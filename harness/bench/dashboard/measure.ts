import { randomUUID } from 'node:crypto';
import { createSpace } from '../../../lib/accounts/spaces.ts';
import { openPostgres } from '../../../lib/db/connect.ts';
import { type Database, openDatabase } from '../../../lib/db/database.ts';
import { insertParts } from '../../../lib/write/store.ts';
import { llmEvent, someEvents } from '../../fixtures/events.ts';
import { partOf } from '../../fixtures/part.ts';
import { peakResidentBytes } from '../../system/process-stats.ts';
import type { RunningWeir } from '../../system/weir.ts';
import { growSpace } from '../filters/growth.ts';
import type { Workload } from '../workload.ts';
import { openDashboardClient } from './dashboard-client.ts';
import { measureExport } from './export.ts';
import { measureTailLatency, openTails } from './live-tails.ts';
import { type CallFigure, measureProcedures } from './procedures.ts';
import { measureSlowdown, renderSlowdown } from './slowdown.ts';

const smallSpaces = 1_000;
const smallSpaceEvents = 20;
const tailCount = 200;
const tailSamples = 60;
/** Pairs of measurements, with and without streams in turn, so that other work on the machine affects both. */
const slowdownPairs = 3;

export interface DashboardOptions {
  rows: number;
  seconds: number;
  say: (text: string) => void;
}

/** Fills one space with `rows` events and 1,000 spaces with a few, and measures the dashboard's calls. @returns a table. */
export async function measureDashboard(
  weir: RunningWeir,
  workload: Workload,
  { rows, seconds, say }: DashboardOptions,
): Promise<string> {
  const { connection } = weir;
  const { spaceId } = connection;
  await using sql = openPostgres(connection.databaseUrl, {
    applicationName: 'weir-bench',
    connectionsMax: 4,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  const nowMs = Date.now();
  await growSpace(database, spaceId, { rows, nowMs, say });
  await fillSmallSpaces(database);
  const trace = await storeTrace(database, spaceId, nowMs);
  await sql`VACUUM ANALYZE`;
  const client = await openDashboardClient(connection);
  say('measuring procedures …');
  const calls = await measureProcedures(client, { spaceId, rows, nowMs, say, ...trace });
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
    ...renderCalls(calls),
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

function renderCalls(figures: readonly CallFigure[]): string[] {
  return figures.map(({ name, p50Ms, p99Ms, goalMs }) => line(name, p50Ms, p99Ms, goalMs));
}

function line(name: string, p50Ms: number, p99Ms: number, goalMs: number): string {
  return [
    name.padEnd(36),
    `p50 ${p50Ms.toFixed(1)} ms`.padEnd(16),
    `p99 ${p99Ms.toFixed(1)} ms`.padEnd(16),
    `goal ${goalMs} ms${p99Ms > goalMs ? ', MISSED' : ''}`,
  ].join('');
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
