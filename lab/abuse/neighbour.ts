import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies, type Latencies } from '../../cli/client/latencies.ts';
import { toolEvent } from '../../harness/fixtures/events.ts';
import { openDashboardClient } from '../../harness/system/dashboard-client.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { type Door, doors } from './doors.ts';
import { isTooLong, stallMsMax, startProbe } from './probe.ts';
import { type AbusiveRequest, jsonOverHttp1, openClients } from './protocols.ts';
import { plain } from './requests.ts';

/** The busy space: so many connections, each with one large batch after the other. */
const busyConnections = 8;

/**
 * The neighbour sends at this interval, in turns a small request through the same door, and a batch of more
 * values than are read on the event loop.
 */
const intervalMs = 250;
const neighbourValues = 70_000;

/** Its p99 may be so many times what it is alone, and counts from this time on. */
const factorMax = 2;
const p99MsMin = 100;

/** A large batch waits for one of the busy space on its thread. */
const turnMsMax = 250;

/**
 * Lets a space send as much as it can through each door, beside one that sends four requests a second. Prints
 * the neighbour's latency alone and then, and the longest stall of ingest's event loop, each with its bound.
 *
 * @param seconds of each measurement: there are two for a door.
 * @param only doors with this text in their name.
 * @returns the faults: requests of the neighbour that were refused, and a p99 or a stall beyond its bound.
 */
export async function measureNeighbour(
  { connection }: Pick<RunningWeir, 'connection'>,
  { seconds, only, say }: { seconds: number; only: string; say: (text: string) => void },
): Promise<string[]> {
  const { trpc } = await openDashboardClient(connection);
  const createKey = async (name: string) => {
    const { spaceId } = await trpc.spaces.create.mutate({ name });
    return (await trpc.apiKeys.create.mutate({ spaceId, name })).apiKey;
  };
  const [busyKey, neighbourKey] = [await createKey('busy'), await createKey('neighbour')];
  const { ingestUrl } = connection;
  const faults: string[] = [];
  await using probe = await startProbe(ingestUrl);
  for (const door of doors.filter(({ name }) => name.includes(only))) {
    const runNeighbour = () => sendInTurn(ingestUrl, { door, apiKey: neighbourKey, seconds });
    const alone = await runNeighbour();
    const busy = startBusy(ingestUrl, { door, apiKey: busyKey });
    await probe.take();
    const beside = await runNeighbour();
    const stall = await probe.take();
    const accepted = await busy.stop();
    // A request is in several turns of the loop, each of which the machine may delay.
    const small = compare(alone.small, beside.small, stall.idleMs);
    const costly = compare(alone.costly, beside.costly, turnMsMax + stall.idleMs);
    const isServed = accepted > 0 && beside.refused === 0;
    const isPassed = isServed && small.isWithin && costly.isWithin && !isTooLong(stall);
    const line = `${door.name}: ${accepted} batches of the busy space; p99 of its neighbour ${small.text}, of expensive batches ${costly.text}; ${beside.refused} refused (bound 0); longest stall ${stall.stallMs.toFixed(0)} ms (bound ${stallMsMax}; an idle server beside it ${stall.idleMs.toFixed(0)})`;
    say(`${isPassed ? 'PASS' : 'FAIL'} ${line}`);
    if (!isPassed) faults.push(line);
  }
  return faults;
}

/** Two latencies, and whether the second is within its bound. */
function compare(alone: Latencies, beside: Latencies, addedMs: number): { text: string; isWithin: boolean } {
  const [before, after] = [alone.percentileMs(99), beside.percentileMs(99)];
  const bound = Math.max(p99MsMin, factorMax * before) + addedMs;
  const text = `${before.toFixed(0)} ms alone, ${after.toFixed(0)} ms beside it (bound ${bound.toFixed(0)})`;
  return { text, isWithin: after <= bound };
}

async function sendInTurn(
  url: string,
  { door, apiKey, seconds }: { door: Door; apiKey: string; seconds: number },
): Promise<{ small: Latencies; costly: Latencies; refused: number }> {
  await using clients = openClients(url);
  const [small, costly] = [createLatencies(), createLatencies()];
  let refused = 0;
  for (let sent = 0; sent < (seconds * 1_000) / intervalMs; sent++) {
    const isSmall = sent % 2 === 0;
    const request = isSmall ? door.small(apiKey) : manyValues(apiKey);
    const startedMs = performance.now();
    const status = await clients[isSmall ? door.httpVersion : '1.1'](request);
    if (status !== 200 && status !== 202) refused += 1;
    (isSmall ? small : costly).record(performance.now() - startedMs);
    await sleep(intervalMs);
  }
  return { small, costly, refused };
}

function manyValues(apiKey: string): AbusiveRequest {
  const input = Array.from({ length: neighbourValues }, (_, n) => n % 10);
  const events = [toolEvent({ properties: { tool: { name: 'neighbour', input } } })];
  return plain(jsonOverHttp1, apiKey, Buffer.from(JSON.stringify({ events })));
}

/**
 * Sends without pause until it is stopped.
 * @returns what stops it, with the number of batches that were accepted.
 */
function startBusy(url: string, { door, apiKey }: { door: Door; apiKey: string }) {
  let isOn = true;
  let accepted = 0;
  const sending = Array.from({ length: busyConnections }, async () => {
    await using clients = openClients(url, 1);
    while (isOn) {
      const status = await clients[door.httpVersion](door.large(apiKey));
      if (status === 200 || status === 202) accepted += 1;
      // A client waits before it tries again.
      else await sleep(50);
    }
  });
  return {
    async stop(): Promise<number> {
      isOn = false;
      await Promise.all(sending);
      return accepted;
    },
  };
}
