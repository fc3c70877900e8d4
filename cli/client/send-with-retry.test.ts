import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openIngestClient } from './ingest-client.ts';
import { type SendError, sendWithRetry } from './send-with-retry.ts';

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

const accept: Respond = (response) => response.writeHead(202).end('{"message":"Queued 1 events."}');
const fail =
  (status: number, id: string, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response
      .writeHead(status, headers)
      .end(JSON.stringify({ error: { id, title: 'T', status, details: `about ${id}` } }));
const hangUp: Respond = (_response, request) => request.socket.destroy();
const stayQuiet: Respond = () => {};

/** Sends one body to a server that answers the first request with the first response, and so on. */
async function sendTo(responses: Respond[], { retryForMs = 10_000, timeoutMs = 30_000 } = {}) {
  const requests: { path: string | undefined; authorization: string | undefined; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    // The client gave up.
    if (body === undefined) return;
    requests.push({ path: request.url, authorization: request.headers.authorization, body });
    (responses[requests.length - 1] ?? responses.at(-1) ?? accept)(response, request);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const retries: { error: SendError; waitMs: number }[] = [];
  await using http = openIngestClient({
    url: `http://127.0.0.1:${port}/base/`,
    apiKey: 'k',
    connections: 1,
    timeoutMs,
  });
  const result = await sendWithRetry(http.post, Buffer.from('{"events":[{"id":"é"}]}'), {
    retryForMs,
    onRetry: (error, waitMs) => retries.push({ error, waitMs }),
  });
  server.closeAllConnections();
  await once(server.close(), 'close');
  return { result, requests, retries };
}

test('an accepted body is sent once, to the path and with the key of the contract', async () => {
  const { result, requests } = await sendTo([accept]);
  expect(result).toEqual({ error: undefined, attempts: 1 });
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
    fail(503, 'ingest_unavailable'),
    hangUp,
    fail(500, 'internal_server_error'),
    fail(429, 'slow_down'),
    accept,
  ];
  const { result, requests, retries } = await sendTo(responses);
  expect(result).toEqual({ error: undefined, attempts: 5 });
  expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
  expect(retries.map(({ error }) => error.status)).toEqual([503, null, 500, 429]);
});

test('a request without a response in time is retried with the same bytes', async () => {
  const { result, requests, retries } = await sendTo([stayQuiet, accept], { timeoutMs: 300 });
  expect(result.error).toBeUndefined();
  expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
  // On a busy machine a response that was sent may be late, too.
  expect(new Set(retries.map(({ error }) => error.status))).toEqual(new Set([null]));
});

test.each([
  [400, 'invalid_event_batch'],
  [401, 'unauthorized'],
  [402, 'usage_limit_exceeded'],
  [404, 'not_found'],
  [413, 'batch_too_large'],
])('%i is not retried', async (status, id) => {
  const { result } = await sendTo([fail(status, id), accept]);
  expect(result).toEqual({ error: { status, id, details: `about ${id}` }, attempts: 1 });
});

test('a response outside of the contract is an error, even a 200', async () => {
  const { result } = await sendTo([(response) => response.writeHead(200).end('<html>')]);
  expect(result.error).toEqual({ status: 200, id: 'unexpected_answer', details: '<html>' });
});

test('retries wait for Retry-After, given in seconds or as a date', async () => {
  const inThreeSeconds = () => ({ 'retry-after': new Date(Date.now() + 3_000).toUTCString() });
  const { retries } = await sendTo([
    fail(503, 'ingest_unavailable', { 'retry-after': '1' }),
    (...answer) => fail(503, 'ingest_unavailable', inThreeSeconds())(...answer),
    accept,
  ]);
  expect(retries[0]?.waitMs).toBeGreaterThanOrEqual(1_000);
  expect(retries[0]?.waitMs).toBeLessThan(1_200);
  // The date has whole seconds. Without it the wait has at most 200 ms.
  expect(retries[1]?.waitMs).toBeGreaterThan(200);
});

test('retries end after retryForMs, and not before', async () => {
  const started = performance.now();
  const { result } = await sendTo([fail(503, 'ingest_unavailable')], { retryForMs: 3_000 });
  expect(performance.now() - started).toBeGreaterThanOrEqual(3_000);
  expect(result.error?.id).toBe('ingest_unavailable');
  expect(result.attempts).toBeGreaterThan(2);
});

test('a refused connection is a network failure with its code', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  await using http = openIngestClient({
    url: `http://127.0.0.1:${port}`,
    apiKey: 'k',
    connections: 1,
    timeoutMs: 30_000,
  });
  const result = await sendWithRetry(http.post, Buffer.from('{}'), { retryForMs: 0 });
  expect(result.error).toMatchObject({ status: null, id: 'network_failure' });
  expect(result.error?.details).toContain('ECONNREFUSED');
});
