import { median } from '../median.ts';
import type { Figures } from './measures.ts';

/** One row of the table: a measurement, its goal, and the baseline it is compared with. */
interface Row {
  measure: string;
  value: (figures: Figures) => string;
  baseline?: (figures: Figures) => string;
  goal: string;
}

const number = (value = Number.NaN, digits = 0) =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumFractionDigits: digits }) : 'unknown here';
const ratio = (value = Number.NaN, baseline = Number.NaN, digits = 1) =>
  `${(value / baseline).toFixed(digits)} ×`;
const mebibytes = (bytes = Number.NaN) => `${number(bytes / 1024 ** 2)} MiB`;

const rows: Row[] = [
  {
    measure: 'HTTP to Postgres, 500-event requests',
    value: (f) => `${number(f.storedPerSecond)} events/s`,
    baseline: (f) => `${ratio(f.storedPerSecond, f.copied)} COPY as jsonb (${number(f.copied)}/s)`,
    goal: '≥ 30,000, ≥ 3 ×',
  },
  {
    measure: 'ingest alone, 500-event requests',
    value: (f) => `${number(f.acceptedPerSecond)} events/s`,
    goal: '',
  },
  {
    measure: '  its CPU time per request',
    value: (f) => `${number(f.batchCpuMs, 1)} ms`,
    baseline: (f) => `${ratio(f.batchCpuMs, f.parseMs)} JSON.parse (${number(f.parseMs, 1)} ms)`,
    goal: '≤ 2.5 ×',
  },
  {
    measure: 'ingest alone, 1-event requests, 128 connections',
    value: (f) => `${number(f.singlesPerSecond)} requests/s`,
    baseline: (f) =>
      `${ratio(f.singlesPerSecond, f.published)} one publish at a time (${number(f.published)}/s)`,
    goal: '≥ 10,000, ≥ 3 ×',
  },
  {
    measure: 'CPU time of gRPC, 500-event requests',
    value: (f) => `${number(f.grpcBatchCpuMs, 1)} ms`,
    baseline: (f) =>
      `${ratio(f.grpcBatchCpuMs, f.batchCpuMs)} JSON (Connect ${ratio(f.connectBatchCpuMs, f.batchCpuMs)})`,
    goal: '≤ 2 ×',
  },
  {
    measure: '  1-event requests, 128 connections',
    value: (f) => `${number(1_000 * (f.grpcSingleCpuMs ?? Number.NaN))} µs`,
    baseline: (f) =>
      `${ratio(f.grpcSingleCpuMs, f.singleCpuMs)} JSON (Connect ${ratio(f.connectSingleCpuMs, f.singleCpuMs)})`,
    goal: '≤ 2 ×',
  },
  {
    measure: '202 latency at half of the peak, 500 events',
    value: (f) => `p50 ${number(f.batchP50Ms, 1)} ms, p99 ${number(f.batchP99Ms, 1)} ms`,
    goal: '≤ 25 ms, ≤ 75 ms',
  },
  {
    measure: '202 latency, 1–20 events',
    value: (f) => `p50 ${number(f.smallP50Ms, 1)} ms, p99 ${number(f.smallP99Ms, 1)} ms`,
    goal: '≤ 5 ms, ≤ 25 ms',
  },
  {
    measure: '202 to visible in the dashboard API',
    value: (f) => `p50 ${number(f.visibleP50Ms, 1)} ms, p99 ${number(f.visibleP99Ms, 1)} ms`,
    goal: '≤ 100 ms, ≤ 1 s',
  },
  { measure: 'bytes in Postgres per event', value: (f) => number(f.bytesPerEvent), goal: '≤ 750' },
  { measure: 'resident memory, peak: ingest', value: (f) => mebibytes(f.ingestBytes), goal: '≤ 350 MB' },
  { measure: '  writer', value: (f) => mebibytes(f.writerBytes), goal: '≤ 250 MB' },
  { measure: '  dashboard-api', value: (f) => mebibytes(f.dashboardBytes), goal: '≤ 200 MB' },
];

const sdkRows: Row[] = [
  { measure: 'record(), an event of 6 KB', value: (f) => `${number(f.recordMicroseconds)} µs`, goal: '' },
  {
    measure: '  with its share of a request',
    value: (f) => `${number(f.eventMicroseconds)} µs`,
    goal: '≤ 50 µs',
  },
  {
    measure: 'observing a call, answer of 6 KB',
    value: (f) => `${number(f.callMicroseconds)} µs`,
    goal: '≤ 50 µs',
  },
  { measure: '  as a stream of 60 chunks', value: (f) => `${number(f.streamMicroseconds)} µs`, goal: '' },
  { measure: '  time to its first chunk', value: (f) => `+ ${number(f.firstChunkMs, 2)} ms`, goal: '≤ 1 ms' },
  {
    measure: 'memory at the bounds, 700-byte events',
    value: (f) => mebibytes(f.smallBoundBytes),
    goal: '≤ 64 MiB',
  },
  { measure: '  64 KiB events', value: (f) => mebibytes(f.largeBoundBytes), goal: '≤ 64 MiB' },
];

const retentionRows: Row[] = [
  {
    measure: 'dropping a week of expired events',
    value: (f) => `${number(f.dropSeconds, 2)} s for ${number(f.droppedEvents)}`,
    goal: '≤ 5 s for 10 M',
  },
  {
    measure: '  slowest write meanwhile',
    value: (f) => `${number(f.dropWriteMaxMs)} ms`,
    baseline: (f) => `${number(f.quietWriteMaxMs)} ms in 10 s before`,
    goal: '< 200 ms',
  },
  {
    measure: 'deleting nine tenths of a week in batches, and rewriting it',
    value: (f) => `${number(f.batchPerSecond)} events/s`,
    goal: '',
  },
  {
    measure: '  slowest write meanwhile',
    value: (f) => `${number(f.batchWriteMaxMs)} ms`,
    baseline: (f) => `${number(f.quietWriteMaxMs)} ms in 10 s before`,
    goal: '< 200 ms',
  },
  { measure: '  disk that came back', value: (f) => `${number(100 * (f.reclaimedShare ?? 0))}%`, goal: '' },
];

const storageRows: Row[] = [
  {
    measure: 'storing 500 events a statement, empty',
    value: (f) => `${number(f.emptyPerSecond)} events/s`,
    goal: '',
  },
  { measure: '  Postgres CPU per 500 events', value: (f) => `${number(f.emptyCpuMs, 1)} ms`, goal: '' },
  {
    measure: 'storing into a full database',
    value: (f) => `${number(f.fullPerSecond)} events/s with ${number(f.rows)} rows`,
    baseline: (f) => `${ratio(f.fullPerSecond, f.emptyPerSecond, 2)} the rate when empty`,
    goal: '≥ 0.9 × at 10 M',
  },
  { measure: '  Postgres CPU per 500 events', value: (f) => `${number(f.fullCpuMs, 1)} ms`, goal: '' },
  {
    measure: '  of a space with three dimensions',
    value: (f) => `${number(f.slicedCpuMs, 1)} ms`,
    baseline: (f) => `${ratio(f.slicedCpuMs, f.fullCpuMs, 2)} of that without`,
    goal: '1.05',
  },
  { measure: 'bytes an event while it is stored', value: (f) => number(f.bytes), goal: '≤ 850' },
  { measure: '  of this, the index on terms', value: (f) => number(f.termsBytes, 1), goal: '' },
  { measure: 'bytes an event after it has expired', value: (f) => number(f.lastingBytes), goal: '≤ 125' },
  { measure: '  of this, the ledger of ids', value: (f) => number(f.ledgerBytes, 1), goal: '' },
  {
    measure: '  of this, the statistics',
    value: (f) => `${number(f.statisticsBytes, 1)}, with ${number(f.eventsPerStatistic, 1)} events a row`,
    goal: '',
  },
];

const erasureRows: Row[] = [
  {
    measure: 'erasing a user: rows and segments',
    value: (f) =>
      `${number(f.erasureRowsSeconds, 1)} s for ${number(f.erasedEvents)} events in ${number(f.erasedSegments)} segments`,
    goal: '',
  },
  {
    measure: '  with the files of the partitions',
    value: (f) => `${number(f.erasureSeconds, 1)} s`,
    goal: '≤ 60 s for 10,000 in 1,000',
  },
  {
    measure: '  CPU of the command and its backend',
    value: (f) => `${number(f.erasureCpuSeconds, 1)} s`,
    goal: '',
  },
];

const sendRows: Row[] = [
  {
    measure: '`weir send`, until all is stored',
    value: (f) => `${number(f.sendPerSecond)} events/s for ${number(f.fileEvents)}`,
    baseline: (f) =>
      `${ratio(f.sendPerSecond, f.loadPerSecond, 2)} the load generator (${number(f.loadPerSecond)}/s)`,
    goal: '≥ 0.8 ×',
  },
  { measure: '  until it exits', value: (f) => `${number(f.sendSeconds, 1)} s`, goal: '' },
];

/** The parts that can be measured separately, with `--only`. */
const parts = {
  sdk: sdkRows,
  retention: retentionRows,
  storage: storageRows,
  erasure: erasureRows,
  send: sendRows,
} satisfies Record<string, Row[]>;

/** Renders the table of measurements, or a part of it, from the medians of several rounds. */
export function renderReport(figures: Figures, part?: keyof typeof parts): string {
  const shown = part === undefined ? rows : parts[part];
  const cells = shown.map((row) => [
    row.measure,
    row.value(figures),
    row.baseline?.(figures) ?? '',
    row.goal,
  ]);
  const table = [['measure', 'median', 'relative to baseline', 'goal'], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  const lines = table.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => '─'.repeat(width)).join('  '));
  return lines.join('\n');
}

/** The median of each figure over the rounds. */
export function medianFigures(rounds: Figures[]): Figures {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, median(rounds.map((round) => round[name] ?? Number.NaN))]),
  );
}
