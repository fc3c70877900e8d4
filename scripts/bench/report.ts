import type { Figures } from './measures.ts';

/** One line of the table: a measure, its goal (design §6), and the floor it is compared with. */
interface Row {
  measure: string;
  value: (figures: Figures) => string;
  floor?: (figures: Figures) => string;
  goal: string;
}

const number = (value = Number.NaN, digits = 0) =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumFractionDigits: digits }) : 'unknown here';
const ratio = (value = Number.NaN, floor = Number.NaN) => `${(value / floor).toFixed(1)} ×`;
const mebibytes = (bytes = Number.NaN) => `${number(bytes / 1024 ** 2)} MiB`;

const rows: Row[] = [
  {
    measure: 'HTTP to Postgres, 500-event requests',
    value: (f) => `${number(f.storedPerSecond)} events/s`,
    floor: (f) => `${ratio(f.storedPerSecond, f.copied)} COPY as jsonb (${number(f.copied)}/s)`,
    goal: '≥ 30,000, ≥ 3 ×',
  },
  {
    measure: 'ingest alone, 500-event requests',
    value: (f) => `${number(f.acceptedPerSecond)} events/s`,
    goal: '',
  },
  {
    measure: '  its CPU time a request',
    value: (f) => `${number(f.batchCpuMs, 1)} ms`,
    floor: (f) => `${ratio(f.batchCpuMs, f.parseMs)} JSON.parse (${number(f.parseMs, 1)} ms)`,
    goal: '≤ 2.5 ×',
  },
  {
    measure: 'ingest alone, 1-event requests, 128 connections',
    value: (f) => `${number(f.singlesPerSecond)} requests/s`,
    floor: (f) =>
      `${ratio(f.singlesPerSecond, f.published)} one publish at a time (${number(f.published)}/s)`,
    goal: '≥ 10,000, ≥ 3 ×',
  },
  {
    measure: 'CPU time of gRPC, 500-event requests',
    value: (f) => `${number(f.grpcBatchCpuMs, 1)} ms`,
    floor: (f) =>
      `${ratio(f.grpcBatchCpuMs, f.batchCpuMs)} JSON (Connect ${ratio(f.connectBatchCpuMs, f.batchCpuMs)})`,
    goal: '≤ 2 ×',
  },
  {
    measure: '  1-event requests, 128 connections',
    value: (f) => `${number(1_000 * (f.grpcSingleCpuMs ?? Number.NaN))} µs`,
    floor: (f) =>
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
  { measure: 'bytes in Postgres an event', value: (f) => number(f.bytesPerEvent), goal: '≤ 750' },
  { measure: 'resident memory, peak: ingest', value: (f) => mebibytes(f.ingestBytes), goal: '≤ 350 MB' },
  { measure: '  writer', value: (f) => mebibytes(f.writerBytes), goal: '≤ 250 MB' },
  { measure: '  dashboard-api', value: (f) => mebibytes(f.dashboardBytes), goal: '≤ 200 MB' },
];

const abuseRows: Row[] = [
  {
    measure: '202 latency, 1–20 events, under abuse',
    value: (f) => `p50 ${number(f.abusedP50Ms, 1)} ms, p99 ${number(f.abusedP99Ms, 1)} ms`,
    floor: (f) => `${ratio(f.abusedP99Ms, f.quietP99Ms)} the p99 just before (${number(f.quietP99Ms, 1)} ms)`,
    goal: '< 3 ×',
  },
  { measure: '  resident memory of ingest, peak', value: (f) => mebibytes(f.abuseBytes), goal: '< 512 MB' },
  { measure: '  events accepted and not stored', value: (f) => number(f.lost), goal: '0' },
];

/** What can be measured alone, with `--only`. */
const parts = { abuse: abuseRows } satisfies Record<string, Row[]>;

/** The table of design §6, from the medians of several rounds; or a part of it. */
export function renderReport(figures: Figures, part?: keyof typeof parts): string {
  const shown = part === undefined ? [...rows, ...abuseRows] : parts[part];
  const cells = shown.map((row) => [row.measure, row.value(figures), row.floor?.(figures) ?? '', row.goal]);
  const table = [['measure', 'median', 'beside its floor', 'goal'], ...cells];
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

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}
