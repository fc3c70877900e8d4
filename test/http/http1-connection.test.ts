import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ErrorId } from '../../event/errors.ts';
import { someEvents } from '../../harness/fixtures/events.ts';
import { bodyTimeoutMs, headersTimeoutMs } from '../../platform/http/limits.ts';
import {
  authorizationOf,
  expectRawError,
  openSocket,
  parseAnswers,
  type RawAnswer,
  rawPost,
  requestLine,
  talk,
} from '../support/protocols/raw-http.ts';
import { ingestPath } from '../support/protocols/rpc-calls.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, untilDrained } from '../support/wait.ts';

const { pipeline, tenant } = usePipeline();

const send = (bytes: string, methods?: string[]) => talk(pipeline.url, bytes, methods);
const post = (body: string, headers?: string) => rawPost(tenant, body, headers);
const batch = (count: number) => JSON.stringify({ events: someEvents(count) });
/** A chunked request that begins with these chunks. */
const chunked = (chunks: string) =>
  `${requestLine}Host: x\r\n${authorizationOf(tenant)}Transfer-Encoding: chunked\r\n\r\n${chunks}`;

describe('unusual but valid requests', () => {
  const body = '{"events":[]}';
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const inChunks = (text: string, headers = 'Transfer-Encoding: chunked\r\n') =>
    `${requestLine}Host: x\r\nConnection: close\r\n${authorizationOf(tenant)}${headers}\r\n${text}`;
  const close = 'Connection: close\r\n';

  test.each<[string, () => string]>([
    ['chunks', () => inChunks(chunks)],
    ['chunks of one byte', () => inChunks(`${body.replace(/./g, '1\r\n$&\r\n')}0\r\n\r\n`)],
    ['chunks, with other capitals and spaces', () => inChunks(chunks, 'TRANSFER-ENCODING:  Chunked \r\n')],
    ['a chunk with an extension', () => inChunks(chunks.replace('\r\n', ';a=b;c="d"\r\n'))],
    ['trailers', () => inChunks(chunks.replace(/\r\n$/, 'X: y\r\n\r\n'))],
    ['empty lines before it', () => `\r\n\r\n${post(body, close)}`],
    ['an empty Host', () => post(body, close).replace('Host: x', 'Host:')],
    ['a Host with an address and a port', () => post(body, close).replace('Host: x', 'Host: [::1]:8080')],
    ['HTTP/1.0', () => post(body).replace('HTTP/1.1', 'HTTP/1.0')],
    ['HTTP/1.0 without Host', () => post(body).replace('HTTP/1.1', 'HTTP/1.0').replace('Host: x\r\n', '')],
    ['an upgrade to WebSocket', () => post(body, 'Connection: upgrade, close\r\nUpgrade: websocket\r\n')],
    [
      'an upgrade to HTTP/2',
      () =>
        post(
          body,
          'Connection: upgrade, http2-settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
        ),
    ],
    ['an unknown Expect', () => post(body, `${close}Expect: miracles\r\n`)],
    ['a query', () => post(body, close).replace(' HTTP', `?${'q=%00&'.repeat(100)} HTTP`)],
    ['the whole URL', () => post(body, close).replace('POST ', 'POST http://example.test')],
  ])('%s is answered with 202', async (_, request) => {
    const answers = await send(request());
    expect(answers.map(({ status }) => status)).toEqual([202]);
  });

  test('100 (Continue) is sent to a client that expects it', async () => {
    const answers = await send(post(body, `${close}Expect: 100-continue\r\n`));
    expect(answers.map(({ status }) => status)).toEqual([100, 202]);
  });

  test('a request that arrives byte by byte is answered with 202', async () => {
    const socket = await openSocket(pipeline.url);
    socket.setNoDelay(true);
    const answers = buffer(socket);
    for (const byte of post(body, close)) await new Promise((resolve) => socket.write(byte, resolve));
    expect(parseAnswers(await answers).map(({ status }) => status)).toEqual([202]);
    socket.destroy();
  });

  test('a client that closes its side after its request gets its 202', async () => {
    const socket = await openSocket(pipeline.url);
    socket.end(post(batch(3)));
    expect(parseAnswers(await buffer(socket)).map((answer) => answer.body)).toEqual([
      { message: 'Queued 3 events.' },
    ]);
  });

  test('a client that closes its side in the middle of its body gets a 400', async () => {
    const socket = await openSocket(pipeline.url);
    socket.end(post(batch(3)).slice(0, -10));
    const answers = parseAnswers(await buffer(socket));
    expect(answers).toHaveLength(1);
    expectRawError(answers[0], 'invalid_request_body');
  });
});

describe('paths and methods', () => {
  test.each<[string, string, ErrorId, string | null]>([
    ['POST', '/v1/%69ngest-events', 'not_found', null],
    ['POST', '/v1/../v1/ingest-events', 'not_found', null],
    ['POST', '//v1/ingest-events', 'not_found', null],
    ['POST', '/V1/ingest-events', 'not_found', null],
    ['POST', '/v1/ingest-events%00', 'not_found', null],
    ['POST', '/v1/ingest-events;a', 'not_found', null],
    ['GET', '/__proto__', 'not_found', null],
    ['GET', 'http://', 'not_found', null],
    ['OPTIONS', '*', 'not_found', null],
    ['OPTIONS', '/v1/ingest-events', 'method_not_allowed', 'POST'],
    ['TRACE', '/v1/ingest-events', 'method_not_allowed', 'POST'],
    ['PUT', '/healthz', 'method_not_allowed', 'GET'],
    ['CONNECT', 'example.test:443', 'method_not_allowed', 'GET, POST'],
  ])('%s %s is answered with %s', async (method, target, id, allow) => {
    const answers = await send(`${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answers).toHaveLength(1);
    expectRawError(answers[0], id);
    expect(answers[0]?.headers.get('allow')).toBe(allow);
  });

  test('the response to HEAD has no body', async () => {
    const request = 'HEAD /v1/ingest-events HTTP/1.1\r\nHost: x\r\n\r\n';
    const answers = await send(`${request}${post('{"events":[]}', 'Connection: close\r\n')}`, [
      'HEAD',
      'POST',
    ]);
    expect(answers.map(({ status }) => status)).toEqual([405, 202]);
  });
});

describe('several requests on a connection', () => {
  const statuses = (answers: RawAnswer[]) => answers.map(({ status }) => status);
  const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
  const last = `${health}Connection: close\r\n\r\n`;

  test('pipelined batches are answered in order, also invalid ones', async () => {
    const counts = [3, 1, 0, 7, 2];
    const requests = counts.map((count) => post(batch(count)));
    requests.splice(2, 0, post('{"events":1}'));
    const answers = await send(requests.join('') + last);
    expect(answers.map(({ body }) => (body as { message?: string }).message)).toEqual([
      'Queued 3 events.',
      'Queued 1 event.',
      undefined,
      'Queued 0 events.',
      'Queued 7 events.',
      'Queued 2 events.',
      undefined,
    ]);
    expect(statuses(answers)).toEqual([202, 202, 400, 202, 202, 202, 200]);
  });

  test.each<[string, number, () => string]>([
    ['no key', 401, () => post(batch(1)).replace(authorizationOf(tenant), '')],
    ['bad JSON', 400, () => post('{')],
    ['a bad event', 400, () => post('{"events":[0]}')],
    ['too many events', 413, () => post(batch(501))],
    ['a body that is too large', 413, () => post(' '.repeat(4 * 1024 * 1024 + 1))],
    ['a bad encoding', 400, () => post('{}', 'Content-Encoding: lzma\r\n')],
    ['an unknown path', 404, () => post(batch(1)).replace('/v1', '/v2')],
    ['a GET with a body', 200, () => `${health}Content-Length: 5\r\n\r\nGET /`],
  ])('a connection remains usable after %s', async (_, status, request) => {
    expect(statuses(await send(request() + last))).toEqual([status, 200]);
  });

  test('an accepted batch gets its 202 before the invalid request that follows it gets its 400', async () => {
    const { spaceId, apiKey } = await pipeline.createTenant();
    const good = post(batch(2)).replace(tenant.apiKey, apiKey);
    for (const rest of ['garbage\r\n\r\n', '\0', `${requestLine}Host: x\r\nHost: y\r\n\r\n`]) {
      const answers = await send(good + good + rest + good);
      expect(statuses(answers)).toEqual([202, 202, 400]);
      expectRawError(answers[2], 'invalid_request_body');
    }
    const beforeChunk = await send(good + chunked('zz\r\n'));
    expect(statuses(beforeChunk)).toEqual([202, 400]);
    await untilDrained(pipeline);
    expect(await countRows(pipeline, spaceId)).toBe(2);
  });

  test.each(['application/json', 'application/proto', 'application/grpc-web+proto'])(
    'a body that breaks while its %s request is rejected gets one response, and is not logged as our error',
    async (contentType) => {
      const path = contentType === 'application/json' ? '/v1/ingest-events' : ingestPath;
      const broken = chunked('zz\r\n')
        .replace('/v1/ingest-events', path)
        .replace(authorizationOf(tenant), `Content-Type: ${contentType}\r\n`);
      // The batch before it is still being committed when the parser fails.
      const answers = await send(post(batch(2)) + broken);
      expect(statuses(answers)).toEqual([202, 400]);
      expectRawError(answers[1], 'invalid_request_body');
      expect(pipeline.ingest.log()).not.toMatch(/"level":[56]0/);
    },
  );

  test('bytes after a request with Connection: close are ignored', async () => {
    const closing = post(batch(1), 'Connection: close\r\n');
    for (const rest of ['garbage', '\r\n', post(batch(1))]) {
      expect(statuses(await send(closing + rest))).toEqual([202]);
    }
  });
});

// Concurrently, because each waits for the time limit that it tests.
describe.concurrent('slow clients', () => {
  /** Writes the first part at once, and then single bytes slowly until the server closes. */
  async function dribble(first: string, rest: string) {
    const socket = await openSocket(pipeline.url);
    const startedMs = performance.now();
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    // Bytes written while the server closes the connection cause a reset.
    const closed = new Promise<void>((resolve) => {
      for (const event of ['end', 'error', 'close']) socket.on(event, () => resolve());
    });
    socket.write(first);
    for (let at = 0; (await Promise.race([closed.then(() => 'closed'), sleep(500)])) !== 'closed'; ) {
      if (rest === '') continue;
      socket.write(rest.charAt(at));
      at = (at + 1) % rest.length;
    }
    socket.destroy();
    return { received, seconds: (performance.now() - startedMs) / 1_000 };
  }

  test.concurrent.each<[string, number, () => string, string]>([
    ['a silent socket', headersTimeoutMs, () => '', ''],
    ['a socket that is silent after the request line', headersTimeoutMs, () => requestLine, ''],
    ['slow headers', headersTimeoutMs, () => requestLine, 'X: y\r\n'],
    ['a slow request line', headersTimeoutMs, () => 'GET /', 'y'],
    ['a slow body', bodyTimeoutMs, () => post(' '.repeat(1_000_000)).slice(0, -1_000_000), ' '],
    ['a body that never arrives', bodyTimeoutMs, () => post(' '.repeat(1_000_000)).slice(0, -1_000_000), ''],
    ['slow chunks', bodyTimeoutMs, () => chunked(''), '1\r\n \r\n'],
  ])('%s is disconnected after %i ms, without a status', async (_, limitMs, first, rest) => {
    const { received, seconds } = await dribble(first(), rest);
    expect(received).toBe('');
    expect(seconds).toBeGreaterThan(limitMs / 1_000 - 1);
  });
});
