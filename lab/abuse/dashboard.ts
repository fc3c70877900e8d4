import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies, type Latencies } from '../../cli/client/latencies.ts';
import { type HeavyCall, heaviestCalls } from '../../harness/heavy/heaviest-calls.ts';
import { fillHeavySpace } from '../../harness/heavy/heavy-space.ts';
import { openDashboardClient } from '../../harness/system/dashboard-client.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { openDatabase } from '../../store/db/database.ts';

/** How long a call may hold the event loop, and a margin for a machine that runs the database and this client too. */
const stallMsMax = 100;
const marginMs = 50;

/** A neighbour's p99 during the calls, as a multiple of that alone, and from which time on it counts. */
const neighbourFactorMax = 2;
const neighbourMsMin = 100;

const sizes = { models: 800, minutes: 1_440, prices: 5_000 };
const quietMs = 5_000;
const probeMs = 10;
/** A machine that is busy delays any call once; a call that holds the loop does so each time. */
const tries = 3;

interface Person {
  readonly cookie: string;
  readonly url: string;
}

/**
 * Asks the dashboard API for the most that it answers, each query of its router and each download, while another person reads a small list
 * of another space. Prints the longest stall of the event loop in each call, and the neighbour's latency.
 *
 * @returns the faults.
 */
export async function measureDashboard(
  { connection, sql }: RunningWeir,
  { only, say }: { only: string; say: (text: string) => void },
): Promise<string[]> {
  const client = await openDashboardClient(connection);
  const owner = { cookie: client.cookie(), url: connection.dashboardUrl };
  const heavy = await client.trpc.spaces.create.mutate({ name: 'heavy' });
  say(
    `dashboard: filling a space with ${sizes.models} models in ${sizes.minutes} minutes, ${sizes.prices} prices`,
  );
  const space = await fillHeavySpace({ sql, database: openDatabase(sql) }, heavy.spaceId, sizes);
  const readKey = await client.trpc.apiKeys.create.mutate({
    spaceId: connection.spaceId,
    name: 'neighbour',
    scope: 'events',
  });
  const neighbour = startNeighbour(owner.url, readKey.apiKey);
  await sleep(quietMs);
  const quietP99 = neighbour.takeLatencies().percentileMs(99);
  const faults: string[] = [];
  for (const call of heaviestCalls(space).filter(({ name }) => name.includes(only))) {
    const { status, bytes, stallMs } = await measureCall(owner, call);
    const isLong = stallMs > stallMsMax + marginMs;
    say(
      `${stallMs.toFixed(0).padStart(5)} ms stall (bound ${stallMsMax}), ${status}, ${bytes} bytes: ${call.name}`,
    );
    if (isLong) faults.push(`the dashboard API stood still for ${stallMs.toFixed(0)} ms: ${call.name}`);
    if (status >= 500 && status !== 503 && status !== 504) faults.push(`${status}: ${call.name}`);
  }
  const p99 = neighbour.takeLatencies().percentileMs(99);
  await neighbour.stop();
  const bound = Math.max(neighbourMsMin, neighbourFactorMax * quietP99);
  say(
    `p99 of a neighbour's list: ${quietP99.toFixed(1)} ms alone, ${p99.toFixed(1)} ms during these calls (bound ${bound.toFixed(0)})`,
  );
  if (p99 > bound) faults.push(`a neighbour's p99 was ${p99.toFixed(0)} ms`);
  if (neighbour.failures() > 0) faults.push(`${neighbour.failures()} calls of a neighbour failed`);
  return faults;
}

async function measureCall(owner: Person, { path }: HeavyCall) {
  let best = { status: 0, bytes: 0, stallMs: Number.POSITIVE_INFINITY };
  for (let at = 0; at < tries && best.stallMs > stallMsMax; at++) {
    const probe = startProbe(owner.url);
    const { status, bytes } = await read(`${owner.url}${path}`, { cookie: owner.cookie });
    const stallMs = await probe.stop();
    if (stallMs < best.stallMs) best = { status, bytes, stallMs };
  }
  return best;
}

/** Asks for /healthz, which needs nothing but the event loop, again and again. @returns what stops it, with the longest answer in ms. */
function startProbe(url: string): { stop(): Promise<number> } {
  let isOn = true;
  let longest = 0;
  const probing = (async () => {
    while (isOn) {
      const startedMs = performance.now();
      await read(`${url}/healthz`, {});
      longest = Math.max(longest, performance.now() - startedMs);
      await sleep(probeMs);
    }
  })();
  return {
    async stop() {
      isOn = false;
      await probing;
      return longest;
    },
  };
}

/** Reads a small list twenty times a second, as an open page may. */
function startNeighbour(url: string, key: string) {
  let latencies = createLatencies();
  let failures = 0;
  let isOn = true;
  const reading = (async () => {
    while (isOn) {
      const startedMs = performance.now();
      const { status } = await read(`${url}/trpc/events.list`, { authorization: `Bearer ${key}` });
      latencies.record(performance.now() - startedMs);
      if (status !== 200) failures += 1;
      await sleep(50);
    }
  })();
  return {
    failures: () => failures,
    takeLatencies(): Latencies {
      const taken = latencies;
      latencies = createLatencies();
      return taken;
    },
    async stop() {
      isOn = false;
      await reading;
    },
  };
}

async function read(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; bytes: number }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, resolve).on('error', reject);
  });
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
  return { status: response.statusCode ?? 0, bytes };
}
