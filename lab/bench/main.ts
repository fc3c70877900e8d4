import { cpus } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { peakResidentBytes } from '../../harness/system/process-stats.ts';
import { type RunningWeir, startWeir } from '../../harness/system/weir.ts';
import { measureSdk } from '../../sdk/typescript/bench/measure.ts';
import { measurePeers } from '../peers/measure.ts';
import { measurePythonPackages } from '../peers/python-packages/measure.ts';
import { measureSpanReading } from '../spans/span-reading.ts';
import { measureCpuTime } from './cpu-time.ts';
import { measureDashboard, measureDashboardCalls } from './dashboard/measure.ts';
import { measureErasure } from './erasure.ts';
import { measureFilters, measureYoungWeek } from './filters/measure.ts';
import { requireDisk } from './growth/disk.ts';
import { measureGrowth, parsePoints } from './growth/measure.ts';
import { type Figures, measureHttpToPostgres, measureRound } from './measures.ts';
import { medianFigures, renderReport } from './report.ts';
import { measureRetention } from './retention.ts';
import { measureSend } from './send.ts';
import { measureStorage } from './storage/measure.ts';
import { measureBytesPerEvent } from './storage/sizes.ts';
import { measureWeb } from './web/measure.ts';
import { loadWorkload, type Workload } from './workload.ts';

/**
 * `npm run bench [-- --rounds N --seconds S --only PART --rows N --without-metrics --points N,…
 * --fill-minutes M --merge]`: starts a Weir of its own, puts load on it, and prints the whole table of
 * figures, or one part of it. It only measures: nothing fails on a slow machine.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    only: { type: 'string' },
    rows: { type: 'string' },
    'without-metrics': { type: 'boolean', default: false },
    points: { type: 'string' },
    'fill-minutes': { type: 'string', default: 'Infinity' },
    merge: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const rows = Number(values.rows ?? 1_000_000);
/** For a run beside one with metrics: their difference is what metrics cost. */
const variables = values['without-metrics']
  ? { NODE_OPTIONS: `--import=${new URL('no-metrics.ts', import.meta.url).href}` }
  : {};
const log = (text: string) => process.stderr.write(`${text}\n`);

/** The values of `--only`. Each prints its own part of the table. */
const parts: Record<string, () => Promise<string>> = {
  cpu: async () => {
    const workload = await loadWorkload();
    await using weir = await startWeir(variables);
    await measureHttpToPostgres(weir, workload, seconds);
    return await measureCpuTime(weir, workload, { rounds, seconds, say: log });
  },
  spans: async () => JSON.stringify(measureSpanReading((await loadWorkload()).events, 4 * rounds), null, 2),
  sdk: async () => renderReport(await measureSdk(), 'sdk'),
  retention: async () =>
    renderReport(await underLoad((weir) => measureRetention(weir, { events: rows, log })), 'retention'),
  storage: async () => {
    const workload = await loadWorkload();
    log(`${workload.source}: ${workload.events.length} events`);
    await using weir = await startWeir();
    return renderReport(await measureStorage(weir, workload, { rows, rounds, seconds, log }), 'storage');
  },
  erasure: async () =>
    renderReport(
      await underLoad((weir, load) => measureErasure(weir, load, { events: rows, log })),
      'erasure',
    ),
  send: async () =>
    renderReport(await underLoad((weir, load) => measureSend(weir, load, { events: rows, log })), 'send'),
  peers: async () => {
    const workload = await loadWorkload();
    log(`${workload.source}: ${workload.events.length} events`);
    await using weir = await startWeir();
    return await measurePeers(weir, workload, { rounds, seconds, say: log });
  },
  'python-sdk': () => measurePythonPackages({ rounds, calls: 2_000, say: log }),
  dashboard: async () => {
    const workload = await loadWorkload();
    await using weir = await startWeir();
    const options = { rows: Number(values.rows ?? 10_000_000), seconds, say: log };
    return await measureDashboard(weir, workload, options);
  },
  lists: async () => {
    await using weir = await startWeir();
    return await measureDashboardCalls(weir, { rows: Number(values.rows ?? 10_000_000), say: log });
  },
  web: async () => {
    await using weir = await startWeir();
    return await measureWeb(weir, { rows, say: log });
  },
  filters: async () => {
    await using weir = await startWeir();
    return await measureFilters(weir.connection, { rows, say: log });
  },
  growth: async () => {
    const points = parsePoints(values.points, Number(values.rows ?? 50_000_000));
    requireDisk(Math.max(...points), log);
    await using weir = await startWeir();
    const fillMinutes = Number(values['fill-minutes']);
    return await measureGrowth(weir, { points, fillMinutes, isMerging: values.merge, say: log });
  },
  'filters-young': async () => {
    await using weir = await startWeir();
    return await measureYoungWeek(weir.connection, { rows, say: log });
  },
};

process.stdout.write(
  `\n${await measure(values.only)}\n\n${cpus().length} cores, Node ${process.version}; the load generator runs on the same machine.\n`,
);

async function measure(only: string | undefined): Promise<string> {
  if (only === undefined) return renderReport(await underLoad(measureAll));
  const measurePart = Object.hasOwn(parts, only) ? parts[only] : undefined;
  if (measurePart === undefined) throw new Error(`--only takes ${Object.keys(parts).join(', ')}`);
  return measurePart();
}

async function underLoad(
  measureWeir: (weir: RunningWeir, workload: Workload) => Promise<Figures>,
): Promise<Figures> {
  const workload = await loadWorkload();
  log(`${workload.source}: ${workload.events.length} events`);
  await using weir = await startWeir(variables);
  log('warming up …');
  await measureHttpToPostgres(weir, workload, 2 * seconds);
  // Awaited here, because Weir is stopped when this function returns.
  return await measureWeir(weir, workload);
}

async function measureAll(weir: RunningWeir, workload: Workload): Promise<Figures> {
  log(`${rounds} rounds with ${seconds} s per measurement`);
  // Measured first, while the database contains only batches of real events.
  const bytesPerEvent = await measureBytesPerEvent(weir.sql);
  await measureRound(weir, workload, Math.min(seconds, 2));
  const results: Figures[] = [];
  for (let round = 1; round <= rounds; round++) {
    results.push(await measureRound(weir, workload, seconds));
    const { storedPerSecond = 0, singlesPerSecond = 0 } = results.at(-1) ?? {};
    log(
      `round ${round}: ${Math.round(storedPerSecond)} events/s, ${Math.round(singlesPerSecond)} requests/s`,
    );
  }
  return {
    ...medianFigures(results),
    bytesPerEvent,
    ingestBytes: peakResidentBytes(weir.pidOf('ingest')),
    writerBytes: peakResidentBytes(weir.pidOf('writer')),
    dashboardBytes: peakResidentBytes(weir.pidOf('dashboard-api')),
  };
}
