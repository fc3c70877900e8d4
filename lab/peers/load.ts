import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Body, Peer, RunningPeer } from './peer.ts';

export interface LoadOptions {
  connections: number;
  seconds: number;
  nextBody: () => Body;
}

/** What a peer stored, from the first request until all that it accepted was in its tables. */
export interface Measured {
  stored: number;
  seconds: number;
  bytes: number;
}

/** A slow peer takes minutes for what it accepted. If nothing more is stored for so long, events are lost. */
const idleMsMax = 60_000;

/** Some statements of a peer's client are slow: a request of MLflow may take a minute. */
const requestMsMax = 300_000;

/** Counting makes Postgres work. It waits this many times as long as the last count took. */
const countPause = 10;

/**
 * Puts load on a peer, and waits until everything is stored.
 * @throws Error when a request is not accepted, or events are lost.
 */
export async function measureLoad(
  { name, requestsMax = Number.POSITIVE_INFINITY }: Peer,
  running: RunningPeer,
  { connections, seconds, nextBody }: LoadOptions,
): Promise<Measured> {
  await using client = openClient(running, connections);
  // The first request makes tables, connections and caches.
  const first = nextBody();
  const empty = await running.countStored();
  await client.post(first);
  await untilStored(name, running, empty + first.items);
  const bytesBefore = await running.countBytes();

  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1_000;
  let requests = 0;
  let accepted = 0;
  const runConnection = async () => {
    while (performance.now() < endMs && requests < requestsMax) {
      requests += 1;
      const body = nextBody();
      await client.post(body);
      accepted += body.items;
    }
  };
  await Promise.all(Array.from({ length: connections }, runConnection));
  await untilStored(name, running, empty + first.items + accepted);
  const elapsed = (performance.now() - startedMs) / 1_000;
  return { stored: accepted, seconds: elapsed, bytes: (await running.countBytes()) - bytesBefore };
}

function openClient({ url, headers, status }: RunningPeer, connections: number) {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: requestMsMax,
    bodyTimeout: requestMsMax,
  });
  return {
    async post({ bytes }: Body) {
      const response = await pool.request({ method: 'POST', path, headers, body: bytes });
      const text = await response.body.text();
      if (response.statusCode !== status)
        throw new Error(`${url} responded with ${response.statusCode}: ${text.slice(0, 500)}`);
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

/** @throws Error when fewer are stored and none is added any more, or more are stored than were sent. */
async function untilStored(name: string, running: RunningPeer, expected: number): Promise<void> {
  let stored = -1;
  let changedMs = performance.now();
  for (;;) {
    const countedMs = performance.now();
    const now = await running.countStored();
    if (now === expected) return;
    if (now > expected) throw new Error(`${name} stored ${now - expected} more than it accepted`);
    if (now !== stored) changedMs = performance.now();
    else if (performance.now() > changedMs + idleMsMax)
      throw new Error(`${name} accepted ${expected - now} that it did not store`);
    stored = now;
    await sleep(Math.max(5, countPause * (performance.now() - countedMs)));
  }
}
