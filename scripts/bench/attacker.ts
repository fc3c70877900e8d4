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

// Before there are connections: compressing the bombs takes seconds, and all of the slow ones would write at once after it.
const bodies = hostileBodies(apiKey);
const slow = openSlowConnections(ingestUrl, apiKey, slowConnections);
await slow.ready;
void sendInTurn(bodies, bodiesPerSecond);
void sendInTurn(badKeys(), badKeysPerSecond);
process.on('message', () => {
  process.send?.({ answers: [...answers], closed: slow.closed() }, () => process.exit());
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

/** Sends at that rate, whether answers come or not; on at most 32 connections. */
async function sendInTurn(requests: HostileRequest[], perSecond: number): Promise<void> {
  const pool = new Pool(ingestUrl, { connections: 32, pipelining: 1 });
  const startedMs = performance.now();
  for (let i = 0; ; i++) {
    const waitMs = startedMs + (i * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const options = requests[i % requests.length]?.();
    if (options !== undefined) void send(pool, options);
  }
}

async function send(pool: Pool, options: ReturnType<HostileRequest>): Promise<void> {
  const status = await pool
    .request(options)
    .then(({ statusCode, body }) => body.dump().then(() => statusCode))
    .catch(() => 0);
  answers.set(status, (answers.get(status) ?? 0) + 1);
}
