import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Connection } from '../../lib/local-system.ts';
import { residentBytes } from '../system/process-stats.ts';
import type { RunningWeir } from '../system/weir.ts';
import { runAtRate } from './load.ts';
import type { Figures } from './measures.ts';
import type { Workload } from './workload.ts';

/** What a hostile client does concurrently. Given as rates, so that two runs can be compared. */
const abuse = { slowConnections: 2_000, bodiesPerSecond: 20, badKeysPerSecond: 400 };

/** The well-behaved client: batches of 1–20 events, at a rate that leaves the machine mostly idle. */
const requestsPerSecond = 100;
const connections = 32;

/** A p99 needs thousands of requests: a disk that is slow for 100 ms delays ten of them. */
const secondsMin = 20;

/** How long the writer may take for the events that are queued at the end. */
const storedTimeoutMs = 60_000;

/** Measures a well-behaved client's latency during the abuse, and just before it. */
export async function measureAbuse(weir: RunningWeir, workload: Workload, seconds: number): Promise<Figures> {
  const { connection } = weir;
  const ids: string[] = [];
  const nextBody = () => {
    const body = workload.nextSmall();
    for (const { id } of JSON.parse(body.toString()).events as { id: string }[]) ids.push(id);
    return body;
  };
  const load = {
    connection,
    connections,
    requestsPerSecond,
    nextBody,
    seconds: Math.max(seconds, secondsMin),
  };
  const quiet = await runAtRate(load);
  const attacker = await startAttacker(connection);
  const memory = watchResident(weir.pidOf('ingest'));
  // From the first request on: ingest's code for bad requests is not compiled yet, as in reality.
  const abused = await runAtRate(load);
  const abuseBytes = memory.stop();
  await stopAttacker(attacker);
  return {
    quietP99Ms: quiet.latencies.percentileMs(99),
    abusedP50Ms: abused.latencies.percentileMs(50),
    abusedP99Ms: abused.latencies.percentileMs(99),
    abuseBytes,
    lost: await countLost(weir, ids),
  };
}

async function startAttacker({ ingestUrl, apiKey }: Connection): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('attacker.ts', import.meta.url));
  const attacker = fork(file, [ingestUrl, apiKey, JSON.stringify(abuse)]);
  const failed = once(attacker, 'exit').then(([code]) => {
    throw new Error(`the attacker exited (${code}) before it was ready`);
  });
  await Promise.race([once(attacker, 'message'), failed]);
  failed.catch(() => {});
  return attacker;
}

/** Stops the attacker and prints the responses it got, which show that its requests arrived. */
async function stopAttacker(attacker: ChildProcess): Promise<void> {
  const exited = once(attacker, 'exit');
  attacker.send('stop');
  const [{ responses, closed }] = await once(attacker, 'message');
  await exited;
  const counts = (responses as [status: number, count: number][]).map(
    ([status, count]) => `${count} × ${status}`,
  );
  process.stderr.write(
    `abuse: ${abuse.slowConnections} slow connections (${closed} closed by ingest and reopened), ` +
      `${abuse.bodiesPerSecond} hostile bodies/s, ${abuse.badKeysPerSecond} bad keys/s; responses: ${counts.join(', ')}\n`,
  );
}

/** Measures the peak of the resident memory of a process. */
function watchResident(pid: number): { stop(): number } {
  let peakBytes = residentBytes(pid);
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, residentBytes(pid));
  }, 100);
  return {
    stop: () => {
      clearInterval(timer);
      return peakBytes;
    },
  };
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
