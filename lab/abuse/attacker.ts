import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../store/accounts/api-key.ts';
import { type AbusiveRequest, jsonOverHttp1, openClients } from './protocols.ts';
import { abuses, plain } from './requests.ts';
import { openSlowConnections } from './slow-connections.ts';

/**
 * The hostile client of `npm run abuse`, a separate process so that it does not slow down the measured
 * client. It sends `ready` when the abuse has begun, and exits when its parent has exited.
 */
const [, , ingestUrl = '', apiKey = '', plan = '{}'] = process.argv;
const { slowConnections, bodiesPerSecond, badKeysPerSecond } = JSON.parse(plan);

/**
 * Requests with a new invalid key each. Every other key is well-formed, and so requires a look-up in
 * Postgres.
 */
const badKeys = [createApiKey, () => crypto.randomUUID()].map(
  (makeKey) => () => plain(jsonOverHttp1, makeKey(), Buffer.from('{"events":[]}')),
);

/** The number of responses by status; 0 stands for no response. */
const responses = new Map<number, number>();

process.on('disconnect', () => process.exit());
// Before connections are opened: compressing the bombs blocks for seconds and would delay all writes of slow
// connections.
const bodies = prepareBodies();
await warmUp(2);
const slow = openSlowConnections(ingestUrl, apiKey, slowConnections);
await slow.ready;
void attack(ingestUrl, Number.POSITIVE_INFINITY);
process.on('message', () => {
  process.send?.({ responses: [...responses], closed: slow.closed() }, () => process.exit());
});
process.send?.('ready');

/**
 * Attacks a local dummy server first, so that this process's code is compiled before the measurement: both
 * run on the same cores. The measured service is not warmed up.
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
    sendInTurn(
      url,
      bodies.map((body) => () => body),
      { perSecond: bodiesPerSecond, seconds },
    ),
    sendInTurn(url, badKeys, { perSecond: badKeysPerSecond, seconds }),
  ]);
}

/**
 * The most expensive kinds, by JSON over HTTP/1.1. They use a valid key, because ingest reads no body without
 * one.
 */
function prepareBodies(): AbusiveRequest[] {
  const names = [
    'a bomb in gzip',
    'a bomb in br',
    'a bomb in zstd',
    'too many bytes',
    'too many bytes without a length',
    'brackets too deep',
  ];
  return names.map((name) => {
    const abuse = abuses.find((one) => one.name === name && one.protocol === jsonOverHttp1);
    if (abuse === undefined) throw new Error(`there is no abuse ${name}`);
    return abuse.make(apiKey);
  });
}

/** Sends at a fixed rate, independently of the responses, on at most 32 connections. */
async function sendInTurn(
  url: string,
  requests: readonly (() => AbusiveRequest)[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<void> {
  await using clients = openClients(url, 32);
  const startedMs = performance.now();
  const sent: Promise<void>[] = [];
  for (let i = 0; i < perSecond * seconds; i++) {
    const waitMs = startedMs + (i * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const request = requests[i % requests.length]?.();
    if (request === undefined) continue;
    const done = clients['1.1'](request).then((status) => {
      responses.set(status, (responses.get(status) ?? 0) + 1);
    });
    // An unlimited attack must not collect its promises.
    if (Number.isFinite(seconds)) sent.push(done);
  }
  await Promise.all(sent);
}
