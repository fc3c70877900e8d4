import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { runWeir } from '../test/support/command-line.ts';

/** Answers a request; the number counts all requests from 0. */
type Respond = (response: ServerResponse, request: { number: number; body: string }) => void;

let directory: string;
let server: Server;
let received: string[];
let respond: Respond;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'weir-test-send-'));
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(async () => {
  received = [];
  respond = accept;
  server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    respond(response, { number: received.push(body) - 1, body });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  await once(server.close(), 'close');
});

const accept: Respond = (response) => response.writeHead(202).end('{"message":"Queued."}');
function refuse(response: ServerResponse, status: number, id: string, details = `${id}, it says`): void {
  response.writeHead(status).end(JSON.stringify({ error: { id, title: id, status, details } }));
}

/** Sends a file with this content to the server. */
async function send(content: string | Buffer, ...options: string[]) {
  const file = join(directory, 'events.ndjson');
  writeFileSync(file, content);
  const { port } = server.address() as AddressInfo;
  const target = ['--url', `http://127.0.0.1:${port}`, '--key', 'weir_key'];
  const { exitCode, stdout, stderr } = await runWeir(['send', file, ...target, ...options]);
  return { exitCode, summary: JSON.parse(stdout), stderr };
}

const lines = Array.from(
  { length: 25 },
  (_, n) => `{"id":"e${n}",  "n":9007199254740993, "t":"\\u0000 é \\ud800"}`,
);
const content = `${lines.join('\n')}\n`;
const eventTexts = (body: string) =>
  body.slice('{"events":['.length, -2).replaceAll('},{', '}\n{').split('\n');
const sentLines = () => received.flatMap(eventTexts);

test.each([
  ['plain', content],
  ['gzip', gzipSync(content)],
])('every line is sent exactly once, byte for byte: %s', async (_, file) => {
  const { exitCode, summary, stderr } = await send(file, '--batch', '4', '--concurrency', '3');
  expect(sentLines().toSorted()).toEqual(lines.toSorted());
  for (const body of received) expect(JSON.parse(body).events.length).toBeLessThanOrEqual(4);
  expect(exitCode).toBe(0);
  expect(summary).toEqual({
    accepted: 25,
    rejected: 0,
    errors: [],
    requests: 7,
    retries: 0,
    eventsPerSecond: expect.any(Number),
    p50Ms: expect.any(Number),
    p99Ms: expect.any(Number),
  });
  expect(stderr).toContain('Accepted 25 events');
});

test('one request carries 500 events when nothing else is said', async () => {
  await send(Array.from({ length: 501 }, (_, n) => `{"id":${n}}`).join('\n'));
  expect(received.map((body) => JSON.parse(body).events.length).toSorted()).toEqual([1, 500]);
});

test('a batch that is retried carries the same ids, and is counted once', async () => {
  respond = (response, { number }) => {
    if (number === 0) refuse(response, 503, 'ingest_unavailable');
    else if (number === 1) response.destroy();
    else accept(response, { number, body: '' });
  };
  const { exitCode, summary } = await send(content, '--concurrency', '1', '--fresh-ids');
  expect(received).toHaveLength(3);
  expect(new Set(received).size).toBe(1);
  expect(exitCode).toBe(0);
  expect(summary).toMatchObject({ accepted: 25, rejected: 0, requests: 3, retries: 2 });
});

test('fresh ids replace the ids, differ from each other, and leave every other byte', async () => {
  await send(content, '--fresh-ids');
  const ids: string[] = sentLines().map((line) => JSON.parse(line).id);
  expect(new Set(ids).size).toBe(25);
  expect(sentLines().map((line, n) => line.replace(ids[n] ?? '', `e${n}`))).toEqual(lines);
});

test('what is refused for good is sent once, counted with its reason, and fails the command', async () => {
  respond = (response, request) => {
    if (request.body.includes('"e0"')) refuse(response, 402, 'usage_limit_exceeded');
    else if (request.body.includes('"e24"')) refuse(response, 404, 'not_found');
    else accept(response, request);
  };
  const { exitCode, summary, stderr } = await send(content, '--batch', '5');
  expect(exitCode).toBe(1);
  expect(received).toHaveLength(5);
  expect(summary).toMatchObject({ accepted: 15, rejected: 10, requests: 5, retries: 0 });
  expect(summary.errors).toHaveLength(2);
  expect(summary.errors).toEqual(
    expect.arrayContaining([
      { status: 402, id: 'usage_limit_exceeded', details: 'usage_limit_exceeded, it says', events: 5 },
      { status: 404, id: 'not_found', details: 'not_found, it says', events: 5 },
    ]),
  );
  expect(stderr).toContain('5 × 402 usage_limit_exceeded: usage_limit_exceeded, it says');
});

test('a wrong key is one error for all events', async () => {
  respond = (response) => refuse(response, 401, 'unauthorized');
  const { exitCode, summary } = await send(content, '--batch', '5');
  expect(exitCode).toBe(1);
  expect(summary).toMatchObject({ accepted: 0, rejected: 25, errors: [{ status: 401, events: 25 }] });
});

test('a line that is no event is reported with its number, and the rest is sent', async () => {
  const { exitCode, summary } = await send(`${lines[0]}\nnonsense\n\n${lines[1]}`);
  expect(exitCode).toBe(1);
  expect(sentLines()).toEqual([lines[0], lines[1]]);
  expect(summary).toMatchObject({ accepted: 2, rejected: 1 });
  expect(summary.errors).toEqual([
    {
      status: 400,
      id: 'invalid_request_body',
      details: expect.stringMatching(/^Line 2: .*not sent/),
      events: 1,
    },
  ]);
});

/** Refuses a batch with a bad event as ingest does, and names the first by its place. */
const refuseBad: Respond = (response, request) => {
  const events: { bad?: boolean }[] = JSON.parse(request.body).events;
  const first = events.findIndex(({ bad }) => bad);
  if (first === -1) accept(response, request);
  else refuse(response, 400, 'invalid_event_batch', `events[${first}].bad must be false (and 1 more)`);
};
const badAt = (line: number) => ({
  status: 400,
  id: 'invalid_event_batch',
  details: `Line ${line}: bad must be false (and 1 more)`,
  events: 1,
});
const numbered = (count: number, isBad: (line: number) => boolean) =>
  Array.from({ length: count }, (_, n) => `{"id":"e${n}", "n":9007199254740993, "bad":${isBad(n + 1)}}`);

test('three bad events of a thousand cost nothing but themselves, and are named by their lines', async () => {
  const accepted: string[] = [];
  respond = (response, request) => {
    if (!request.body.includes('"bad":true')) accepted.push(...eventTexts(request.body));
    refuseBad(response, request);
  };
  const file = numbered(1_000, (line) => [17, 499, 1_000].includes(line));
  const { exitCode, summary, stderr } = await send(file.join('\n'));
  expect(exitCode).toBe(1);
  expect(accepted.toSorted()).toEqual(file.filter((line) => !line.includes('true')).toSorted());
  expect(summary).toMatchObject({ accepted: 997, rejected: 3, retries: 0, requests: received.length });
  expect(summary.errors).toHaveLength(3);
  expect(summary.errors).toEqual(expect.arrayContaining([17, 499, 1_000].map(badAt)));
  expect(received.length).toBeLessThanOrEqual(2 + 3 * 2 * Math.ceil(Math.log2(500)));
  expect(stderr).toContain('1 × 400 invalid_event_batch: Line 17: bad must be false');
});

test('a file in which everything is bad takes less than two requests an event', async () => {
  respond = refuseBad;
  const { exitCode, summary } = await send(numbered(90, () => true).join('\n'));
  expect(exitCode).toBe(1);
  expect(summary).toMatchObject({ accepted: 0, rejected: 90, requests: 2 * 90 - 1 });
  expect(summary.errors).toHaveLength(90);
  expect(summary.errors).toEqual(expect.arrayContaining(Array.from({ length: 90 }, (_, n) => badAt(n + 1))));
});

test('one bad event alone is sent once, and named by its line', async () => {
  respond = refuseBad;
  const { exitCode, summary } = await send(`\n\n${numbered(1, () => true)}\n`);
  expect(exitCode).toBe(1);
  expect(received).toHaveLength(1);
  expect(summary).toMatchObject({ accepted: 0, rejected: 1, errors: [badAt(3)] });
});

test('a line that only looks like an event costs nothing but itself', async () => {
  respond = (response, request) => {
    if (request.body.includes('nonsense')) refuse(response, 400, 'invalid_request_body');
    else accept(response, request);
  };
  const { summary } = await send([...lines, '{"id" nonsense}'].join('\n'), '--fresh-ids');
  expect(summary).toMatchObject({ accepted: 25, rejected: 1, errors: [{ id: 'invalid_request_body' }] });
  expect(summary.errors[0].details).toMatch(/^Line 26: /);
});

test('a batch that is too large is sent in smaller ones; an event that is too large by itself is named', async () => {
  respond = (response, request) => {
    if (request.body.length > 200) response.writeHead(413).end('<html>a proxy with a limit of its own');
    else accept(response, request);
  };
  const { summary } = await send([...lines, `{"id":"big","text":"${'x'.repeat(200)}"}`].join('\n'));
  expect(summary).toMatchObject({ accepted: 25, rejected: 1 });
  expect(summary.errors).toEqual([
    { status: 413, id: 'unexpected_answer', details: expect.stringMatching(/^Line 26: <html>/), events: 1 },
  ]);
});

test('a fault of ingest in the middle of a split is retried, not blamed on events', async () => {
  respond = (response, request) => {
    if (request.number === 2) refuse(response, 503, 'ingest_unavailable');
    else refuseBad(response, request);
  };
  const { summary } = await send(numbered(4, (line) => line === 1).join('\n'));
  expect(summary).toMatchObject({ accepted: 3, rejected: 1, errors: [badAt(1)], requests: 6, retries: 1 });
});

test('an empty file is nothing to send, and no failure', async () => {
  expect(await send('')).toMatchObject({
    exitCode: 0,
    summary: { accepted: 0, rejected: 0, requests: 0, p50Ms: 0 },
  });
});

test('a file that is not there, and no system to send to, are failures of one sentence', async () => {
  const noFile = await runWeir([
    'send',
    join(directory, 'none'),
    '--url',
    'http://127.0.0.1:9',
    '--key',
    'k',
  ]);
  expect(noFile).toMatchObject({ exitCode: 1, stdout: '' });
  expect(noFile.stderr).toMatch(/^weir: There is no file .*none\.\n$/);
  const noSystem = await runWeir(['send', join(directory, 'none')]);
  expect(noSystem).toMatchObject({ exitCode: 1, stdout: '' });
  expect(noSystem.stderr).toMatch(/^weir: Nothing was started .*`npm start`.*--url and --key\.\n$/);
});
