import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { badKeys, type HostileRequest, hostileBodies } from './hostile-requests.ts';
import { openSlowConnections } from './slow-connections.ts';

/**
 * The abuse that `npm run bench` puts a service under, as a process of its own so that it takes nothing from the client
 * that is measured. It says `ready` when everything is under way, and ends when its parent is gone.
 */
const [, , ingestUrl = '', apiKey = '', plan = '{}'] = process.argv;
const { slowConnections, bodiesPerSecond, badKeysPerSecond } = JSON.parse(plan);

/** How many answers of which status there were; 0: none came. */
const answers = new Map<number, number>();

process.on('disconnect', () => process.exit());
// Before there are connections: compressing the bombs takes seconds, and all of the slow ones would write at once after it.
const bodies = hostileBodies(apiKey);
await rehearse(2);
const slow = openSlowConnections(ingestUrl, apiKey, slowConnections);
await slow.ready;
void attack(ingestUrl, Number.POSITIVE_INFINITY);
process.on('message', () => {
  process.send?.({ answers: [...answers], closed: slow.closed() }, () => process.exit());
});
process.send?.('ready');

/**
 * Attacks a server of its own first. An attacker's code is compiled elsewhere; this one's would be in the first moments of
 * its attack, on the cores of the service that is measured. Of the service nothing is warmed up.
 */
async function rehearse(seconds: number): Promise<void> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(401).end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await attack(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, seconds);
  server.closeAllConnections();
  server.close();
  answers.clear();
}

async function attack(url: string, seconds: number): Promise<void> {
  await Promise.all([
    sendInTurn(url, bodies, { perSecond: bodiesPerSecond, seconds }),
    sendInTurn(url, badKeys(), { perSecond: badKeysPerSecond, seconds }),
  ]);
}

/** Sends at that rate, whether answers come or not; on at most 32 connections. */
async function sendInTurn(
  url: string,
  requests: HostileRequest[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<void> {
  const pool = new Pool(url, { connections: 32, pipelining: 1 });
  const startedMs = performance.now();
  for (let i = 0; i < perSecond * seconds; i++) {
    const waitMs = startedMs + (i * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const options = requests[i % requests.length]?.();
    if (options !== undefined) void send(pool, options);
  }
  await pool.close();
}

async function send(pool: Pool, options: ReturnType<HostileRequest>): Promise<void> {
  const status = await pool
    .request(options)
    .then(({ statusCode, body }) => body.dump().then(() => statusCode))
    .catch(() => 0);
  answers.set(status, (answers.get(status) ?? 0) + 1);
}
