import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RunningWeir } from '../../harness/system/weir.ts';
import type { Connection } from '../../launcher/local-system.ts';
import { runAtRate } from '../bench/load.ts';
import { loadWorkload } from '../bench/workload.ts';
import { describeStatuses, mebibytes, residentBytesMax, watchResident } from './memory.ts';

/** The concurrent load of the hostile client. Given as rates, so that two runs can be compared. */
const plan = { slowConnections: 2_000, bodiesPerSecond: 20, badKeysPerSecond: 400 };

/** The well-behaved client: batches of 1–20 events, at a rate that leaves the machine mostly idle. */
const requestsPerSecond = 100;
const connections = 32;

/** How long the writer may take for the events that are queued at the end. */
const storedTimeoutMs = 60_000;

interface LatencyOptions {
  /**
   * The duration of each of both runs. A p99 needs thousands of requests: a disk that is slow for 100 ms
   * delays ten.
   */
  seconds: number;
  say: (text: string) => void;
}

/** Measures a well-behaved client's latency during the abuse, and just before it. @returns the faults. */
export async function measureLatency(weir: RunningWeir, { seconds, say }: LatencyOptions): Promise<string[]> {
  const { connection } = weir;
  const workload = await loadWorkload();
  const ids: string[] = [];
  const nextBody = () => {
    const body = workload.nextSmall();
    for (const { id } of JSON.parse(body.toString()).events as { id: string }[]) ids.push(id);
    return body;
  };
  const load = { connection, connections, requestsPerSecond, nextBody, seconds };
  const quiet = await runAtRate(load);
  const attacker = await startAttacker(connection);
  const memory = watchResident(weir.pidOf('ingest'), () => '');
  const abused = await runAtRate(load);
  const { bytes } = memory.stop();
  const { responses, closed } = await stopAttacker(attacker);
  const lost = await countLost(weir, ids);
  const [quietP99, p50, p99] = [
    quiet.latencies.percentileMs(99),
    abused.latencies.percentileMs(50),
    abused.latencies.percentileMs(99),
  ];
  say(
    `${plan.slowConnections} slow connections (${closed} closed by ingest and reopened), ${plan.bodiesPerSecond} hostile bodies/s, ${plan.badKeysPerSecond} bad keys/s; responses: ${describeStatuses(responses)}`,
  );
  say(
    `202 latency of a well-behaved client: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; p99 just before ${quietP99.toFixed(1)} ms, the goal is less than 3 times that`,
  );
  say(`ingest at most ${mebibytes(bytes)}; ${ids.length} events accepted, ${lost} of them not stored`);
  return [
    ...(bytes > residentBytesMax ? [`ingest took more than ${mebibytes(residentBytesMax)}`] : []),
    ...(lost > 0 ? [`${lost} accepted events are not stored`] : []),
  ];
}

async function startAttacker({ ingestUrl, apiKey }: Connection): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('attacker.ts', import.meta.url));
  const attacker = fork(file, [ingestUrl, apiKey, JSON.stringify(plan)]);
  const failed = once(attacker, 'exit').then(([code]) => {
    throw new Error(`the attacker exited (${code}) before it was ready`);
  });
  await Promise.race([once(attacker, 'message'), failed]);
  failed.catch(() => {});
  return attacker;
}

/** @returns the responses that the attacker got, which show that its requests arrived. */
async function stopAttacker(
  attacker: ChildProcess,
): Promise<{ responses: [status: number, count: number][]; closed: number }> {
  const exited = once(attacker, 'exit');
  attacker.send('stop');
  const [result] = await once(attacker, 'message');
  await exited;
  return result;
}

/** The number of accepted events that are not stored when the queue has drained, or after the time-out. */
async function countLost({ sql, connection }: RunningWeir, ids: readonly string[]): Promise<number> {
  const deadlineMs = performance.now() + storedTimeoutMs;
  for (;;) {
    const [row] = await sql<{ stored: number }[]>`SELECT count(*)::integer AS stored FROM events
      WHERE space_id = ${connection.spaceId} AND id = ANY(string_to_array(${ids.join()}, ',')::uuid[])`;
    const lost = ids.length - (row?.stored ?? 0);
    if (lost === 0 || performance.now() > deadlineMs) return lost;
    await sleep(200);
  }
}
