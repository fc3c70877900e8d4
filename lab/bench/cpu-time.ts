import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTimeMs, processTreeCpuMs } from '../../harness/system/process-stats.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { eventsPerBatchMax } from '../../platform/limits.ts';
import { runClosedLoop } from './load.ts';
import { countStored, type Figures } from './measures.ts';
import { medianFigures } from './report.ts';
import type { Workload } from './workload.ts';

interface CpuOptions {
  rounds: number;
  seconds: number;
  say: (text: string) => void;
}

/**
 * Measures where the CPU time of a stored request goes, with requests of 500 events and of one. Times of
 * processes hardly depend on other work of the machine, so two versions can be compared by it.
 */
export async function measureCpuTime(
  weir: RunningWeir,
  workload: Workload,
  { rounds, seconds, say }: CpuOptions,
): Promise<string> {
  const loads = [
    { name: '500 events', events: eventsPerBatchMax, connections: 4, nextBody: workload.nextBatch },
    { name: '1 event', events: 1, connections: 128, nextBody: workload.nextSingle },
  ];
  const results = new Map<string, Figures[]>(loads.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const load of loads) {
      const needs = await measureLoad(weir, { ...load, seconds });
      results.get(load.name)?.push(needs);
      say(`round ${round}, ${load.name} a request: ${(needs['stored/s'] ?? 0).toFixed(0)} events/s`);
    }
  }
  return [...results]
    .map(([name, needs]) => renderNeeds(`${name} a request`, medianFigures(needs)))
    .join('\n');
}

/** The CPU time of each process in milliseconds a request, until all events are stored, and more, by name. */
async function measureLoad(
  weir: RunningWeir,
  {
    events,
    connections,
    nextBody,
    seconds,
  }: { events: number; connections: number; nextBody: () => Buffer; seconds: number },
): Promise<Figures> {
  const storedBefore = await countStored(weir.sql);
  const [walBefore, cpuBefore, startedMs] = [await readWalBytes(weir), readCpuMs(weir), performance.now()];
  const { requests } = await runClosedLoop({ connection: weir.connection, connections, seconds, nextBody });
  while ((await countStored(weir.sql)) < storedBefore + requests * events) await sleep(10);
  const cpu = Object.entries(readCpuMs(weir)).map(
    ([name, ms]) => [`${name}, ms`, (ms - (cpuBefore[name] ?? 0)) / requests] as const,
  );
  return {
    ...Object.fromEntries(cpu),
    'all of them, ms': cpu.reduce((sum, [, ms]) => sum + ms, 0),
    'stored/s': (requests * events * 1_000) / (performance.now() - startedMs),
    'WAL, bytes an event': ((await readWalBytes(weir)) - walBefore) / (requests * events),
  };
}

function readCpuMs({ pidOf }: RunningWeir): Record<string, number> {
  const { user, system } = process.cpuUsage();
  return {
    ingest: cpuTimeMs(pidOf('ingest')),
    writer: cpuTimeMs(pidOf('writer')),
    'nats-server': cpuTimeMs(pidOf('nats-server')),
    postgres: processTreeCpuMs(pidOf('postgres')),
    'dashboard-api': cpuTimeMs(pidOf('dashboard-api')),
    'load generator': (user + system) / 1_000,
  };
}

async function readWalBytes({ sql }: RunningWeir): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes`;
  return row?.bytes ?? Number.NaN;
}

function renderNeeds(title: string, needs: Figures): string {
  const lines = Object.entries(needs).map(
    ([name, value]) => `  ${name.padEnd(22)} ${value >= 100 ? value.toFixed(0) : value.toFixed(3)}`,
  );
  return `${[title, ...lines].join('\n')}\n`;
}
