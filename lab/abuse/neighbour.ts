import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies, type Latencies } from '../../cli/client/latencies.ts';
import { toolEvent } from '../../harness/fixtures/events.ts';
import { openDashboardClient } from '../../harness/system/dashboard-client.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { payloads } from './payloads.ts';
import { jsonOverHttp1, openClients, type Protocol, protocols } from './protocols.ts';
import { plain } from './requests.ts';

/** The busy space: so many connections, each with one batch after the other that is read on the worker thread. */
const busyConnections = 8;
const busyPayload = 'empty lists';

/** The neighbour sends at this interval, in turns an event of few values and one of more than are read on the event loop. */
const intervalMs = 250;
const neighbourValues = [1, 70_000];

/** Its p99 may be so many times what it is alone, and counts from this time on. */
const factorMax = 2;
const p99MsMin = 100;

/**
 * Lets a space send as much as it can through each door, beside one that sends four requests a second. Prints the neighbour's latency alone
 * and then.
 *
 * @param seconds of each door. @returns the faults: requests of the neighbour that were refused, and a p99 beyond its bound.
 */
export async function measureNeighbour(
  { connection }: Pick<RunningWeir, 'connection'>,
  { seconds, say }: { seconds: number; say: (text: string) => void },
): Promise<string[]> {
  const { trpc } = await openDashboardClient(connection);
  const createKey = async (name: string) => {
    const { spaceId } = await trpc.spaces.create.mutate({ name });
    return (await trpc.apiKeys.create.mutate({ spaceId, name })).apiKey;
  };
  const [busyKey, neighbourKey] = [await createKey('busy'), await createKey('neighbour')];
  const runNeighbour = () => sendInTurn(connection.ingestUrl, { apiKey: neighbourKey, seconds });
  const alone = await runNeighbour();
  const bound = Math.max(p99MsMin, factorMax * alone.latencies.percentileMs(99));
  say(`a neighbour alone: p99 ${alone.latencies.percentileMs(99).toFixed(0)} ms (bound ${bound.toFixed(0)})`);
  const faults: string[] = [];
  for (const protocol of protocols) {
    const busy = startBusy(connection.ingestUrl, { protocol, apiKey: busyKey });
    const { latencies, refused } = await runNeighbour();
    const accepted = await busy.stop();
    const p99 = latencies.percentileMs(99);
    say(
      `${protocol.name}: ${accepted} batches of the busy space; its neighbour: p99 ${p99.toFixed(0)} ms, ${refused} refused`,
    );
    if (refused > 0) faults.push(`${protocol.name}: ${refused} requests of a neighbour were refused`);
    if (p99 > bound) faults.push(`${protocol.name}: a neighbour's p99 was ${p99.toFixed(0)} ms`);
  }
  return faults;
}

async function sendInTurn(
  url: string,
  { apiKey, seconds }: { apiKey: string; seconds: number },
): Promise<{ latencies: Latencies; refused: number }> {
  await using clients = openClients(url);
  const latencies = createLatencies();
  let refused = 0;
  for (let sent = 0; sent < (seconds * 1_000) / intervalMs; sent++) {
    const input = Array.from(
      { length: neighbourValues[sent % neighbourValues.length] ?? 1 },
      (_, n) => n % 10,
    );
    const events = [toolEvent({ properties: { tool: { name: 'neighbour', input } } })];
    const request = plain(jsonOverHttp1, apiKey, Buffer.from(JSON.stringify({ events })));
    const startedMs = performance.now();
    if ((await clients['1.1'](request)) !== 202) refused += 1;
    latencies.record(performance.now() - startedMs);
    await sleep(intervalMs);
  }
  return { latencies, refused };
}

/** Sends without pause until it is stopped. @returns what stops it, with the number of batches that were accepted. */
function startBusy(url: string, { protocol, apiKey }: { protocol: Protocol; apiKey: string }) {
  const payload = payloads[protocol.form][busyPayload];
  if (payload === undefined) throw new Error(`there is no payload ${busyPayload}`);
  let isOn = true;
  let accepted = 0;
  const sending = Array.from({ length: busyConnections }, async () => {
    await using clients = openClients(url, 1);
    while (isOn) {
      const status = await clients[protocol.httpVersion](plain(protocol, apiKey, payload()));
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
