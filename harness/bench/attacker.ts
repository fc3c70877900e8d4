import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { badKeys, type HostileRequest, hostileBodies } from './hostile-requests.ts';
import { openSlowConnections } from './slow-connections.ts';

/**
 * The hostile client of `npm run bench`, a separate process so that it does not slow down the measured client. It sends
 * `ready` when the abuse has begun, and exits when its parent has exited.
 */
const [, , ingestUrl = '', apiKey = '', plan = '{}'] = process.argv;
const { slowConnections, bodiesPerSecond, badKeysPerSecond } = JSON.parse(plan);

/** The number of responses by status; 0 stands for no response. */
const responses = new Map<number, number>();

process.on('disconnect', () => process.exit());
// Before connections are opened: compressing the bombs blocks for seconds, and delays all writes of the slow connections.
const bodies = hostileBodies(apiKey);
await warmUp(2);
const slow = openSlowConnections(ingestUrl, apiKey, slowConnections);
await slow.ready;
void attack(ingestUrl, Number.POSITIVE_INFINITY);
process.on('message', () => {
  process.send?.({ responses: [...responses], closed: slow.closed() }, () => process.exit());
});
process.send?.('ready');

/**
 * Attacks a local dummy server first, so that this process's code is compiled before the measurement: both run on the
 * same cores. The measured service is not warmed up.
 */
async function warmUp(seconds: number): Promise<void> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(401).end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await attack(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, seconds);
  server.closeAllConnections();
  server.close();
  responses.clear();
}

async function attack(url: string, seconds: number): Promise<void> {
  await Promise.all([
    sendInTurn(url, bodies, { perSecond: bodiesPerSecond, seconds }),
    sendInTurn(url, badKeys(), { perSecond: badKeysPerSecond, seconds }),
  ]);
}

/** Sends at a fixed rate, independently of the responses, on at most 32 connections. */
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
  responses.set(status, (responses.get(status) ?? 0) + 1);
}
