import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies, type Latencies } from '../../cli/client/latencies.ts';
import {
  type HeavyCall,
  heaviestCalls,
  heaviestMutations,
  heaviestOfOperators,
  heaviestTools,
} from '../../harness/heavy/heaviest-calls.ts';
import { fillHeavySpace } from '../../harness/heavy/heavy-space.ts';
import { openDashboardClient } from '../../harness/system/dashboard-client.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { openDatabase } from '../../store/db/database.ts';
import { isTooLong, open, openAgent, type Probe, read, type Stall, stallMsMax, startProbe } from './probe.ts';

/** A neighbour's p99 during the calls, as a multiple of that alone, and from which time on it counts. */
const neighbourFactorMax = 2;
const neighbourMsMin = 100;

const sizes = { models: 800, minutes: 1_440, prices: 5_000 };
const quietMs = 5_000;
/** A machine that is busy delays any call once; a call that holds the loop does so each time. */
const tries = 3;

/** More than a person may have open, of which a read key opens each. */
const streams = 300;
const streamsMs = 5_000;

interface Caller {
  readonly headers: Record<string, string>;
  readonly url: string;
}

/**
 * Asks the dashboard API for the most that it answers: each procedure of its router, each download, each tool
 * of the MCP door, and live streams; and lets it evaluate the alerts that the mutations made. Meanwhile
 * another person reads a small list of another space. Prints the longest stall of the event loop in each
 * call, and the neighbour's latency.
 *
 * @returns the faults.
 */
export async function measureDashboard(
  { connection, sql }: RunningWeir,
  { only, say }: { only: string; say: (text: string) => void },
): Promise<string[]> {
  const client = await openDashboardClient(connection);
  const { dashboardUrl: url } = connection;
  const owner = { headers: { cookie: client.cookie(), origin: url }, url };
  await sql`UPDATE users SET operator_since = now() WHERE email = ${connection.email}`;
  const heavy = await client.trpc.spaces.create.mutate({ name: 'heavy' });
  say(
    `dashboard: filling a space with ${sizes.models} models in ${sizes.minutes} minutes, ${sizes.prices} prices`,
  );
  const space = await fillHeavySpace({ sql, database: openDatabase(sql) }, heavy.spaceId, sizes);
  const createKey = async (spaceId: string) => {
    const { apiKey } = await client.trpc.apiKeys.create.mutate({ spaceId, name: 'reads', scope: 'events' });
    return { authorization: `Bearer ${apiKey}` };
  };
  const program = { headers: await createKey(heavy.spaceId), url };
  const neighbour = startNeighbour(url, await createKey(connection.spaceId));
  await sleep(quietMs);
  const quietP99 = neighbour.takeLatencies().percentileMs(99);
  const faults: string[] = [];
  await using probe = await startProbe(url);
  const judge = (name: string, { told, ...stall }: Stall & { told: string }) => {
    const { stallMs, idleMs } = stall;
    say(
      `${stallMs.toFixed(0).padStart(5)} ms stall (bound ${stallMsMax}; an idle server ${idleMs.toFixed(0)}), ${told}: ${name}`,
    );
    if (isTooLong(stall)) faults.push(`the dashboard API stood still for ${stallMs.toFixed(0)} ms: ${name}`);
  };
  const calls = [
    ...[...heaviestCalls(space), ...heaviestOfOperators(space)].map((call) => ({ call, caller: owner })),
    ...heaviestTools(space).map((call) => ({ call, caller: program })),
    ...heaviestMutations(space).map((call) => ({ call, caller: owner })),
  ].filter(({ call }) => call.name.includes(only));
  for (const { call, caller } of calls) {
    const { status, bytes, ...stall } = await measureCall(probe, caller, call);
    judge(call.name, { ...stall, told: `${status}, ${bytes} bytes` });
    if (status >= 500 && status !== 503 && status !== 504) faults.push(`${status}: ${call.name}`);
  }
  judge('live streams and alerts', await measureStreams(probe, program));
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

/**
 * Opens more live streams than a person may have, and keeps them while the alerts of the mutations are
 * evaluated.
 */
async function measureStreams(probe: Probe, { url, headers }: Caller): Promise<Stall & { told: string }> {
  await probe.take();
  const opened = await Promise.all(
    Array.from({ length: streams }, () => open(`${url}/trpc/live.tail?input=%7B%7D`, { headers })),
  );
  for (const response of opened) response.resume().on('error', () => {});
  await sleep(streamsMs);
  const stall = await probe.take();
  // Those that were refused have ended.
  const left = opened.filter(({ complete }) => !complete).length;
  for (const response of opened) response.destroy();
  return { ...stall, told: `${left} of ${streams} open` };
}

async function measureCall(probe: Probe, { url, headers }: Caller, { path, body }: HeavyCall) {
  let best = { status: 0, bytes: 0, stallMs: Number.POSITIVE_INFINITY, idleMs: 0 };
  for (let at = 0; at < tries && best.stallMs > stallMsMax; at++) {
    await probe.take();
    const { status, bytes } = await read(`${url}${path}`, { headers, body });
    const stall = await probe.take();
    if (stall.stallMs < best.stallMs) best = { status, bytes, ...stall };
  }
  return best;
}

/** Reads a small list twenty times a second, as an open page may. */
function startNeighbour(url: string, headers: Record<string, string>) {
  const agent = openAgent();
  let latencies = createLatencies();
  let failures = 0;
  let isOn = true;
  const reading = (async () => {
    while (isOn) {
      const startedMs = performance.now();
      const { status } = await read(`${url}/trpc/events.list`, { headers, agent });
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
