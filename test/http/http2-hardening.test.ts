import type { OutgoingHttpHeaders } from 'node:http2';
import zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { type ErrorId, errorTable } from '../../event/errors.ts';
import { llmEvent, someEvents, toolEvent } from '../../harness/fixtures/events.ts';
import { bodyBytesMax } from '../../platform/limits.ts';
import { createApiKey } from '../../store/accounts/api-key.ts';
import { exchange, type Http2Answer, openSession } from '../support/protocols/http2.ts';
import {
  flags,
  frame,
  headersFrame,
  opening,
  postHeaders,
  RawConnection,
} from '../support/protocols/http2-frames.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, untilDrained } from '../support/wait.ts';

/**
 * Bad requests over HTTP/2, each with the error it must get. Abuse that is specific to HTTP/2 is in
 * http2-abuse.test.ts.
 */

const { pipeline, tenant } = usePipeline();

/** RFC 9113 §7. */
const protocolError = 1;

type Body = string | Uint8Array;

/** Posts a body without Content-Length. */
async function post(
  body: Body | readonly Body[],
  headers: OutgoingHttpHeaders = {},
  path = '/v1/ingest-events',
): Promise<Http2Answer> {
  using session = await openSession(pipeline);
  const pieces = typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
  const authorization = `Bearer ${tenant.apiKey}`;
  return await exchange(session, { ':method': 'POST', ':path': path, authorization, ...headers }, pieces);
}

function expectError(answer: Http2Answer, id: ErrorId, details = /./): void {
  const { status, title } = errorTable[id];
  expect(JSON.parse(answer.text)).toEqual({
    error: { id, title, status, details: expect.stringMatching(details) },
  });
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/json']);
}

function expectQueued({ status, text }: Http2Answer, count: number): void {
  expect([status, text]).toEqual([
    202,
    JSON.stringify({ message: `Queued ${count} ${count === 1 ? 'event' : 'events'}.` }),
  ]);
}

/** A valid body of this size. */
function bodyOf(bytes: number): Buffer {
  const body = (pad: string) => JSON.stringify({ events: [toolEvent({ properties: { tool: { pad } } })] });
  return Buffer.from(body('x'.repeat(bytes - body('').length)));
}

test('exactly 4 MiB pass, with a declared length and without', async () => {
  const body = bodyOf(bodyBytesMax);
  expectQueued(await post(body), 1);
  expectQueued(await post(body, { 'content-length': bodyBytesMax }), 1);
});

test('one byte more is answered with batch_too_large, with a declared length and without', async () => {
  const body = Buffer.alloc(bodyBytesMax + 1, ' ');
  expectError(await post(body), 'batch_too_large');
  expectError(await post(body, { 'content-length': body.length }), 'batch_too_large');
});

test('a client that sends ten times the limit gets the response, not a reset', async () => {
  const pieces = Array(40).fill(Buffer.alloc(1024 * 1024, ' '));
  expectError(await post(pieces), 'batch_too_large');
  expectError(await post(pieces, { 'content-length': 40 * 1024 * 1024 }), 'batch_too_large');
});

test('a rejected body that never ends is answered after a time limit, and reset', async () => {
  using connection = await RawConnection.open(pipeline, opening);
  connection.send(headersFrame(1, postHeaders('no-key', [['content-length', '1000000']])));
  connection.send(frame('data', { streamId: 1, payload: Buffer.alloc(1_000) }));
  expect((await connection.untilFrame('data', 1)).payload.toString()).toContain('unauthorized');
  // NO_ERROR: the response is complete, and the rest of the request is not needed (RFC 9113 §8.1).
  expect((await connection.untilFrame('rstStream', 1)).payload.readUInt32BE()).toBe(0);
});

const encoders = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: (bytes: Buffer) =>
    zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: zlib.zstdCompressSync,
};

test.each(Object.entries(encoders))('%s is decoded, and bounded after decoding', async (encoding, encode) => {
  const headers = { 'content-encoding': encoding };
  expectQueued(await post(encode(bodyOf(bodyBytesMax)), headers), 1);
  expectError(await post(encode(bodyOf(bodyBytesMax + 1)), headers), 'batch_too_large');
  expectError(await post(encode(Buffer.alloc(256 * 1024 * 1024)), headers), 'batch_too_large');
  const whole = encode(bodyOf(10_000));
  expectError(await post(whole.subarray(0, -5), headers), 'invalid_request_body');
  expectError(await post([whole, 'more'], headers), 'invalid_request_body');
  expectError(await post(bodyOf(10_000), headers), 'invalid_request_body');
});

test('an unknown encoding is answered with invalid_request_body', async () => {
  for (const encoding of ['lzma', 'gzip, gzip', 'toString']) {
    expectError(await post('{}', { 'content-encoding': encoding }), 'invalid_request_body');
  }
});

test.each([
  ['nothing', ''],
  ['plain text', 'hello'],
  ['half of a JSON text', '{"events":['],
  ['two JSON texts', '{"events":[]}{}'],
  ['two byte order marks', '\uFEFF\uFEFF{"events":[]}'],
  ['UTF-16', Buffer.from('{"events":[]}', 'utf16le')],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
])('a body of %s is answered with invalid_request_body', async (_, body) => {
  expectError(await post(body), 'invalid_request_body');
});

test.each(['[]', 'null', '5', '{}', '{"events":null}', '{"events":{}}', '{"events":[1]}'])(
  'the body %s is answered with invalid_event_batch',
  async (body) => expectError(await post(body), 'invalid_event_batch'),
);

test('nesting deeper than 512 levels is answered with invalid_event_batch', async () => {
  const nested = `{"events":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expectError(await post(nested), 'invalid_event_batch');
});

test('501 events are answered with too_many_events, valid or not', async () => {
  expectError(await post(JSON.stringify({ events: someEvents(501) })), 'too_many_events');
  expectError(await post(JSON.stringify({ events: Array(501).fill(null) })), 'too_many_events');
  expectQueued(await post(JSON.stringify({ events: someEvents(500) })), 500);
});

test('the last of duplicate keys wins, and __proto__ is an ordinary key', async () => {
  const { spaceId, apiKey } = await pipeline.createTenant();
  const event = JSON.stringify(llmEvent({ durationMs: 'LAST' })).replace('"LAST"', '"x","durationMs":7');
  const strange = JSON.stringify(toolEvent({ properties: { tool: {} } })).replace(
    '"tool":{}',
    '"tool":{"__proto__":{"name":1},"constructor":{"prototype":null}}',
  );
  const answer = await post(`{"events":[${event},${strange}]}`, { authorization: `Bearer ${apiKey}` });
  expectQueued(answer, 2);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, spaceId)).toBe(2);
  const rows = await pipeline.sql`
    SELECT id FROM events WHERE space_id = ${spaceId} AND type = 'llm' AND duration_ms = 7`;
  expect(rows).toHaveLength(1);
});

test.each([
  ['no key', undefined],
  ['another scheme', 'Basic abc'],
  ['no token', 'Bearer'],
  ['two tokens', 'Bearer a b'],
  ['a malformed key', 'Bearer weir_abc'],
  ['a well-formed key that does not exist', `Bearer ${createApiKey()}`],
])('%s is answered with 401, whatever the body', async (_, authorization) => {
  for (const body of ['', '{', Buffer.alloc(bodyBytesMax + 1)]) {
    const answer = await post(body, { authorization });
    expectError(answer, 'unauthorized', /^The API key is missing or invalid\.$/);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  }
});

test('two authorization headers are answered with 401, even when both are good', async () => {
  using connection = await RawConnection.open(pipeline, opening);
  const twice = postHeaders(tenant.apiKey, [['authorization', `Bearer ${tenant.apiKey}`]]);
  connection.send(headersFrame(1, twice), dataFrame('{"events":[]}'));
  expect((await connection.untilFrame('data', 1)).payload.toString()).toContain('unauthorized');
});

test('a body shorter than its declared length is reset, and the connection remains usable', async () => {
  using connection = await RawConnection.open(pipeline, opening);
  const headers = postHeaders(tenant.apiKey, [['content-length', '50']]);
  connection.send(headersFrame(1, headers), dataFrame('{"events":[]}'));
  expect((await connection.untilFrame('rstStream', 1)).payload.readUInt32BE()).toBe(protocolError);
  connection.send(headersFrame(3, postHeaders(tenant.apiKey)), dataFrame('{"events":[]}', 3));
  expect((await connection.untilFrame('data', 3)).payload.toString()).toBe('{"message":"Queued 0 events."}');
});

test('a body longer than its declared length ends the connection', async () => {
  using connection = await RawConnection.open(pipeline, opening);
  const headers = postHeaders(tenant.apiKey, [['content-length', '13']]);
  connection.send(headersFrame(1, headers), dataFrame(`{"events":[]}${' '.repeat(100)}`));
  await connection.untilFrame('goAway');
  await connection.closed;
  expectQueued(await post('{"events":[]}'), 0);
});

test('other paths are 404, other methods 405 with Allow', async () => {
  expectError(await post('{}', {}, '/'), 'not_found');
  expectError(await post('{}', {}, '/v1/ingest-events/'), 'not_found');
  expectError(await post('{}', {}, '/toString'), 'not_found');
  for (const method of ['GET', 'DELETE', 'PUT', 'BREW', 'toString']) {
    const answer = await post([], { ':method': method }, '/v1/ingest-events?x=1');
    expectError(answer, 'method_not_allowed');
    expect(answer.headers.allow).toBe('POST');
  }
});

test('CONNECT and an unknown Expect are answered in the error shape', async () => {
  using session = await openSession(pipeline);
  // A client that opens a tunnel does not end its side of the stream.
  const connect = { ':method': 'CONNECT', ':authority': 'x:1' };
  const answer = await exchange(session, connect, [], { isLeftOpen: true });
  expectError(answer, 'method_not_allowed');
  expect(answer.headers.allow).toBe('GET, POST');
  const headers = { ':method': 'POST', ':path': '/v1/ingest-events', expect: 'nothing' };
  expectError(await exchange(session, headers), 'unauthorized');
});

function dataFrame(body: string, streamId = 1): Buffer {
  return frame('data', { flags: flags.endStream, streamId, payload: Buffer.from(body) });
}
