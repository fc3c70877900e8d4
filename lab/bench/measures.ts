import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTimeMs } from '../../harness/system/process-stats.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { eventsPerBatchMax } from '../../platform/limits.ts';
import { measureCopy, measureJsonParse, measurePublish } from './baselines.ts';
import { type LoadOptions, runAtRate, runClosedLoop } from './load.ts';
import { measureVisibility } from './visibility.ts';
import type { Workload } from './workload.ts';

/** The figures of one round, by name. */
export type Figures = Record<string, number>;

/** Enough connections to keep two cores busy, without adding queueing. */
const batchConnections = 4;
const singleConnections = 128;

/**
 * Measures every figure once, each close to its baseline, so that other work on the machine affects both
 * alike.
 */
export async function measureRound(weir: RunningWeir, workload: Workload, seconds: number): Promise<Figures> {
  const { storedPerSecond } = await measureHttpToPostgres(weir, workload, seconds);
  const copied = await measureCopy(weir.sql, workload.events);
  const parseMs = measureJsonParse(workload.nextBatch());
  const alone = await whileWriterRests(weir, () => measureIngestAlone(weir, workload, seconds));
  const event = workload.events[0] ?? Buffer.alloc(0);
  const published = await measurePublish(weir.connection.natsUrl, event, seconds / 2);
  const latency = await measureLatency(weir, workload, { seconds, storedPerSecond });
  const visible = await measureVisibility(weir.connection, workload);
  return { storedPerSecond, copied, parseMs, ...alone, published, ...latency, ...visible };
}

/** Measures throughput until the last accepted event is stored. */
export async function measureHttpToPostgres(
  { connection, sql }: RunningWeir,
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
  const taken = (performance.now() - startedMs) / 1_000;
  return { events, seconds: taken, storedPerSecond: events / taken };
}

async function measureIngestAlone({ connection, pidOf }: RunningWeir, workload: Workload, seconds: number) {
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
  { connection }: RunningWeir,
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

/** Pauses the writer, so that only ingest and the queue use the machine. */
async function whileWriterRests<T>({ sql, pidOf }: RunningWeir, measure: () => Promise<T>): Promise<T> {
  const writer = pidOf('writer');
  process.kill(writer, 'SIGSTOP');
  try {
    return await measure();
  } finally {
    process.kill(writer, 'SIGCONT');
    await settle(sql);
  }
}

/** Waits until the writer has caught up: for 500 ms nothing more is stored. */
async function settle(sql: RunningWeir['sql']): Promise<void> {
  for (let last = -1, now = 0; now !== last; ) {
    last = now;
    await sleep(500);
    now = await countStored(sql);
  }
}

/** The number of events that were ever stored. */
export async function countStored(sql: RunningWeir['sql']): Promise<number> {
  const [row] = await sql<
    { events: number }[]
  >`SELECT coalesce(sum(events), 0)::float8 AS events FROM usage_months`;
  return row?.events ?? 0;
}
