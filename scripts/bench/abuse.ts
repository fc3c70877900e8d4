import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Connection } from '../../lib/connection.ts';
import { runAtRate } from './load.ts';
import type { Figures } from './measures.ts';
import { residentBytes } from './process-stats.ts';
import type { System } from './system.ts';
import type { Workload } from './workload.ts';

/** What a hostile address does all at once, as far as it can: issue it as rates, so that two runs compare. */
const abuse = { slowConnections: 2_000, bodiesPerSecond: 20, badKeysPerSecond: 400 };

/** The client that must not notice: batches of 1–20 events, at a rate that leaves the machine mostly idle. */
const requestsPerSecond = 100;
const connections = 32;

/** p99 needs thousands of requests: a disk that is slow for a tenth of a second holds up ten of them. */
const secondsMin = 20;

/** How long the writer may take for what is still queued at the end. */
const storedTimeoutMs = 60_000;

/** What a good client sees while the service is abused, beside what it saw just before. */
export async function measureAbuse(system: System, workload: Workload, seconds: number): Promise<Figures> {
  const { connection } = system;
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
  const memory = watchResident(system.pidOf('ingest'));
  // From its first moment on: code that has never run is slow, and an attacker is the first to make it run.
  const abused = await runAtRate(load);
  const abuseBytes = memory.stop();
  await stopAttacker(attacker);
  return {
    quietP99Ms: quiet.latencies.percentileMs(99),
    abusedP50Ms: abused.latencies.percentileMs(50),
    abusedP99Ms: abused.latencies.percentileMs(99),
    abuseBytes,
    lost: await countLost(system, ids),
  };
}

async function startAttacker({ ingestUrl, apiKey }: Connection): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('attacker.ts', import.meta.url));
  const attacker = fork(file, [ingestUrl, apiKey, JSON.stringify(abuse)]);
  const failed = once(attacker, 'exit').then(([code]) => {
    throw new Error(`the attacker ended (${code}) before it began`);
  });
  await Promise.race([once(attacker, 'message'), failed]);
  failed.catch(() => {});
  return attacker;
}

/** Ends it, and says what it got: an attacker whose requests do not arrive measures nothing. */
async function stopAttacker(attacker: ChildProcess): Promise<void> {
  const exited = once(attacker, 'exit');
  attacker.send('stop');
  const [{ answers, closed }] = await once(attacker, 'message');
  await exited;
  const counts = (answers as [status: number, count: number][]).map(
    ([status, count]) => `${count} × ${status}`,
  );
  process.stderr.write(
    `abuse: ${abuse.slowConnections} slow connections (${closed} closed by ingest and opened again), ` +
      `${abuse.bodiesPerSecond} hostile bodies/s, ${abuse.badKeysPerSecond} bad keys/s; answers: ${counts.join(', ')}\n`,
  );
}

/** Looks how much memory the process has, and keeps the most. */
function watchResident(pid: number): { stop(): number } {
  let most = residentBytes(pid);
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(pid));
  }, 100);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}

/** How many of the events that were accepted are not stored, once everything that was queued is. */
async function countLost({ sql, connection }: System, ids: readonly string[]): Promise<number> {
  const deadlineMs = performance.now() + storedTimeoutMs;
  for (;;) {
    const [row] = await sql<{ stored: number }[]>`SELECT count(*)::integer AS stored FROM events
      WHERE space_id = ${connection.spaceId} AND id = ANY(string_to_array(${ids.join()}, ',')::uuid[])`;
    const lost = ids.length - (row?.stored ?? 0);
    if (lost === 0 || performance.now() > deadlineMs) return lost;
    await sleep(200);
  }
}
