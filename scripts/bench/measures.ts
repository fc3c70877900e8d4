import { setTimeout as sleep } from 'node:timers/promises';
import { eventsPerBatchMax } from '../../lib/limits.ts';
import { measureCopy, measureJsonParse, measurePublish } from './floors.ts';
import { type LoadOptions, runAtRate, runClosedLoop } from './load.ts';
import { cpuTimeMs } from './process-stats.ts';
import type { System } from './system.ts';
import { measureVisibility } from './visibility.ts';
import type { Workload } from './workload.ts';

/** The figures of one round, by name. */
export type Figures = Record<string, number>;

/** Connections of the load: enough to keep two cores busy, few enough not to queue for its own sake. */
const batchConnections = 4;
const singleConnections = 128;

/** Every figure once. What the machine does meanwhile hits a figure and its floor alike. */
export async function measureRound(system: System, workload: Workload, seconds: number): Promise<Figures> {
  const stored = await measureHttpToPostgres(system, workload, seconds);
  const copied = await measureCopy(system.sql, workload.events);
  const parseMs = measureJsonParse(workload.nextBatch());
  const alone = await whileWriterRests(system, () => measureIngestAlone(system, workload, seconds));
  const event = workload.events[0] ?? Buffer.alloc(0);
  const published = await measurePublish(system.connection.natsUrl, event, seconds / 2);
  const latency = await measureLatency(system, workload, { seconds, ...stored });
  const visible = await measureVisibility(system.connection, workload);
  return { ...stored, copied, parseMs, ...alone, published, ...latency, ...visible };
}

/** Until the last event that was accepted is stored. */
export async function measureHttpToPostgres(
  { connection, sql }: System,
  workload: Workload,
  seconds: number,
) {
  const before = await countStored(sql);
  const startedMs = performance.now();
  const { requests } = await runClosedLoop({
    connection,
    connections: batchConnections,
    seconds,
    nextBody: workload.nextBatch,
  });
  const events = requests * eventsPerBatchMax;
  while ((await countStored(sql)) < before + events) await sleep(5);
  return { storedPerSecond: events / ((performance.now() - startedMs) / 1_000) };
}

async function measureIngestAlone({ connection, pidOf }: System, workload: Workload, seconds: number) {
  const ingest = pidOf('ingest');
  const run = async (load: Omit<LoadOptions, 'connection' | 'seconds'>) => {
    const cpuBeforeMs = cpuTimeMs(ingest);
    const result = await runClosedLoop({ connection, seconds, ...load });
    return { ...result, cpuMs: (cpuTimeMs(ingest) - cpuBeforeMs) / result.requests };
  };
  const batches = await run({ connections: 2, nextBody: workload.nextBatch });
  const batch = { connections: 2, nextBody: workload.nextBatchMessage };
  const singles = await run({ connections: singleConnections, nextBody: workload.nextSingle });
  const single = { connections: singleConnections, nextBody: workload.nextSingleMessage };
  return {
    acceptedPerSecond: (batches.requests * eventsPerBatchMax) / batches.seconds,
    batchCpuMs: batches.cpuMs,
    grpcBatchCpuMs: (await run({ ...batch, protocol: 'grpc' })).cpuMs,
    connectBatchCpuMs: (await run({ ...batch, protocol: 'connect' })).cpuMs,
    singlesPerSecond: singles.requests / singles.seconds,
    singleCpuMs: singles.cpuMs,
    grpcSingleCpuMs: (await run({ ...single, protocol: 'grpc' })).cpuMs,
    connectSingleCpuMs: (await run({ ...single, protocol: 'connect' })).cpuMs,
  };
}

async function measureLatency(
  { connection }: System,
  workload: Workload,
  { seconds, storedPerSecond }: { seconds: number; storedPerSecond: number },
) {
  const load = { connection, connections: 64, seconds };
  const requestsPerSecond = storedPerSecond / eventsPerBatchMax / 2;
  const batch = await runAtRate({ ...load, nextBody: workload.nextBatch, requestsPerSecond });
  const small = await runAtRate({
    ...load,
    nextBody: workload.nextSmall,
    requestsPerSecond: storedPerSecond / 10 / 2 / 4,
  });
  return {
    batchP50Ms: batch.latencies.percentileMs(50),
    batchP99Ms: batch.latencies.percentileMs(99),
    smallP50Ms: small.latencies.percentileMs(50),
    smallP99Ms: small.latencies.percentileMs(99),
  };
}

/** Stops the writer without ending it, so that ingest and the queue have the machine to themselves. */
async function whileWriterRests<T>({ sql, pidOf }: System, measure: () => Promise<T>): Promise<T> {
  const writer = pidOf('writer');
  process.kill(writer, 'SIGSTOP');
  try {
    return await measure();
  } finally {
    process.kill(writer, 'SIGCONT');
    await settle(sql);
  }
}

/** Waits until the writer has caught up: nothing more is stored for half a second. */
async function settle(sql: System['sql']): Promise<void> {
  for (let last = -1, now = 0; now !== last; ) {
    last = now;
    await sleep(500);
    now = await countStored(sql);
  }
}

async function countStored(sql: System['sql']): Promise<number> {
  const [row] = await sql<
    { events: number }[]
  >`SELECT coalesce(sum(events), 0)::float8 AS events FROM usage_months`;
  return row?.events ?? 0;
}

/** What the tables of events take, indexes and TOAST with them. */
export async function measureBytesPerEvent(sql: System['sql']): Promise<number> {
  const [size] = await sql<{ bytes: number; events: number }[]>`
    SELECT sum(pg_total_relation_size(name::regclass))::float8 AS bytes, (SELECT count(*)::float8 FROM events) AS events
    FROM unnest(ARRAY['events', 'segments', 'event_stats', 'usage_months']) AS name`;
  return (size?.bytes ?? Number.NaN) / (size?.events ?? Number.NaN);
}
