import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type DeliveryError, deliver } from './deliver.ts';
import { openPost } from './post.ts';

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

const accept: Respond = (response) => response.writeHead(202).end('{"message":"Queued 1 events."}');
const refuse =
  (status: number, id: string, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response
      .writeHead(status, headers)
      .end(JSON.stringify({ error: { id, title: 'T', status, details: `about ${id}` } }));
const hangUp: Respond = (_response, request) => request.socket.destroy();
const stayQuiet: Respond = () => {};

/** Sends one body to a server that answers the first request with the first response, and so on. */
async function deliverTo(responses: Respond[], retryForMs = 10_000) {
  const requests: { path: string | undefined; authorization: string | undefined; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    requests.push({ path: request.url, authorization: request.headers.authorization, body });
    (responses[requests.length - 1] ?? responses.at(-1) ?? accept)(response, request);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const retries: { error: DeliveryError; waitMs: number }[] = [];
  await using http = openPost({
    url: `http://127.0.0.1:${port}/base/`,
    apiKey: 'k',
    connections: 1,
    timeoutMs: 300,
  });
  const delivery = await deliver(http.post, Buffer.from('{"events":[{"id":"é"}]}'), {
    retryForMs,
    onRetry: (error, waitMs) => retries.push({ error, waitMs }),
  });
  server.closeAllConnections();
  await once(server.close(), 'close');
  return { delivery, requests, retries };
}

test('a body is sent once when it is accepted, to the path and with the key of the contract', async () => {
  const { delivery, requests } = await deliverTo([accept]);
  expect(delivery).toEqual({ error: undefined, attempts: 1 });
  expect(requests).toEqual([
    {
      path: '/base/v1/ingest-events',
      authorization: 'Bearer k',
      body: Buffer.from('{"events":[{"id":"é"}]}'),
    },
  ]);
});

test('5xx and network failures are retried with the same bytes', async () => {
  const responses = [
    refuse(503, 'ingest_unavailable'),
    hangUp,
    stayQuiet,
    refuse(500, 'internal_server_error'),
    refuse(429, 'slow_down'),
    accept,
  ];
  const { delivery, requests, retries } = await deliverTo(responses);
  expect(delivery).toEqual({ error: undefined, attempts: 6 });
  expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
  expect(retries.map(({ error }) => error.status)).toEqual([503, null, null, 500, 429]);
});

test.each([
  [400, 'invalid_event_batch'],
  [401, 'unauthorized'],
  [402, 'usage_limit_exceeded'],
  [404, 'not_found'],
  [413, 'batch_too_large'],
])('%i is not retried', async (status, id) => {
  const { delivery } = await deliverTo([refuse(status, id), accept]);
  expect(delivery).toEqual({ error: { status, id, details: `about ${id}` }, attempts: 1 });
});

test('an answer that is not of the contract is an error, a 200 too', async () => {
  const { delivery } = await deliverTo([(response) => response.writeHead(200).end('<html>')]);
  expect(delivery.error).toEqual({ status: 200, id: 'unexpected_answer', details: '<html>' });
});

test('Retry-After is waited for, in seconds and as a date', async () => {
  const date = new Date(Date.now() + 2_500).toUTCString();
  const { retries } = await deliverTo([
    refuse(503, 'ingest_unavailable', { 'retry-after': '1' }),
    refuse(503, 'ingest_unavailable', { 'retry-after': date }),
    accept,
  ]);
  expect(retries[0]?.waitMs).toBeGreaterThanOrEqual(1_000);
  expect(retries[0]?.waitMs).toBeLessThan(1_200);
  expect(retries[1]?.waitMs).toBeGreaterThan(100);
});

test('a body is given up when its time is over, and not before', async () => {
  const started = performance.now();
  const { delivery } = await deliverTo([refuse(503, 'ingest_unavailable')], 700);
  expect(performance.now() - started).toBeGreaterThanOrEqual(700);
  expect(delivery.error?.id).toBe('ingest_unavailable');
  expect(delivery.attempts).toBeGreaterThan(2);
});

test('nobody listening is a network failure that says so', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  await using http = openPost({
    url: `http://127.0.0.1:${port}`,
    apiKey: 'k',
    connections: 1,
    timeoutMs: 300,
  });
  const delivery = await deliver(http.post, Buffer.from('{}'), { retryForMs: 0 });
  expect(delivery.error).toMatchObject({ status: null, id: 'network_failure' });
  expect(delivery.error?.details).toContain('ECONNREFUSED');
});
