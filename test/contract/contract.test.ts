import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { llmEvent, someEvents, toolEvent } from '../../harness/fixtures/events.ts';
import { bodyBytesMax } from '../../platform/limits.ts';
import { createApiKey } from '../../store/accounts/api-key.ts';
import { type Answer, bodyOf, expectError, expectQueued, postEvents, postRaw } from '../support/http.ts';
import { usePipeline } from '../support/use-pipeline.ts';

const { pipeline, tenant } = usePipeline();

test('a valid batch is answered with 202 and a message', async () => {
  expectQueued(await postEvents(pipeline, tenant, [llmEvent(), toolEvent()]), 2);
  expectQueued(await postEvents(pipeline, tenant, [llmEvent()]), 1);
  expectQueued(await postEvents(pipeline, tenant, []), 0);
  expectQueued(await postEvents(pipeline, tenant, someEvents(500)), 500);
});

test.each([
  ['no key', ''],
  ['another scheme', 'Basic abc'],
  ['no token', 'Bearer'],
  ['two tokens', 'Bearer a b'],
  ['a malformed key', 'Bearer weir_abc'],
  ['a well-formed key that does not exist', `Bearer ${createApiKey()}`],
])('%s is answered with 401, whatever the body', async (_, authorization) => {
  for (const body of ['', '{', bodyOf(100_000)]) {
    const answer = await postRaw(pipeline, tenant, body, { headers: { authorization } });
    expectError(answer, 'unauthorized', 'The API key is missing or invalid.');
  }
});

test('two Authorization headers are answered with 401, even when both are good', async () => {
  const answer = await postOverSocket(
    `Host: x\r\nAuthorization: Bearer ${tenant.apiKey}\r\nAuthorization: Bearer ${tenant.apiKey}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 401 /);
});

test('the scheme of the header is case-insensitive', async () => {
  const headers = { authorization: `bearer ${tenant.apiKey}` };
  expectQueued(await postRaw(pipeline, tenant, '{"events":[]}', { headers }), 0);
});

test.each([
  ['nothing', ''],
  ['white space', '  '],
  ['text that is not JSON', 'hello'],
  ['truncated JSON', '{"events":['],
  ['two JSON values', '{"events":[]}{}'],
  ['two byte order marks', '\uFEFF\uFEFF{"events":[]}'],
  ['UTF-16', Buffer.from('{"events":[]}', 'utf16le')],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['NaN', '{"events":[NaN]}'],
])('a body of %s is answered with invalid_request_body', async (_, body) => {
  expectError(await postRaw(pipeline, tenant, body), 'invalid_request_body');
});

test('a byte order mark before the JSON is skipped', async () => {
  expectQueued(await postRaw(pipeline, tenant, '\uFEFF{"events":[]}'), 0);
});

test('the details of invalid JSON name the position and quote nothing of the body', async () => {
  expectError(
    await postRaw(pipeline, tenant, '{"events":["secret" 1]}'),
    'invalid_request_body',
    /position 20/,
  );
  expect(JSON.stringify((await postRaw(pipeline, tenant, '{"events": secret}')).body)).not.toContain(
    'secret',
  );
});

test.each(['[]', 'null', '"events"', '5', '{}', '{"events":null}', '{"events":{}}', '{"events":[1]}'])(
  'the body %s is answered with invalid_event_batch',
  async (body) => expectError(await postRaw(pipeline, tenant, body), 'invalid_event_batch'),
);

test('one invalid event rejects the batch: the details name it, and nothing of the batch is stored', async () => {
  const { spaceId, ...rest } = await pipeline.createTenant();
  const events = [...someEvents(17), llmEvent({ durationMs: '5' }), llmEvent({ id: 'x' })];
  const answer = await postEvents(pipeline, rest, events);
  expectError(answer, 'invalid_event_batch', 'events[17].durationMs must be a number (and 1 more)');
  expectQueued(await postEvents(pipeline, rest, events.slice(0, 1)), 1);
  await expect.poll(() => pipeline.sql`SELECT id FROM events WHERE space_id = ${spaceId}`).toHaveLength(1);
});

test('a number that is not finite is rejected in a typed field and accepted in a payload', async () => {
  const event = JSON.stringify(toolEvent({ properties: { tool: { output: 'HUGE' } } }));
  const body = (json: string) => `{"events":[${json}]}`;
  expectQueued(await postRaw(pipeline, tenant, body(event.replace('"HUGE"', '1e400'))), 1);
  const typed = event.replace(/"durationMs":[\d.]+/, '"durationMs":1e400');
  expectError(
    await postRaw(pipeline, tenant, body(typed)),
    'invalid_event_batch',
    'events[0].durationMs must be a number',
  );
});

test('501 events are answered with too_many_events, valid or not', async () => {
  expectError(await postEvents(pipeline, tenant, someEvents(501)), 'too_many_events', /501.*500/);
  expectError(
    await postEvents(
      pipeline,
      tenant,
      Array.from({ length: 501 }, () => null),
    ),
    'too_many_events',
  );
});

test('exactly 4 MiB are accepted, and one byte more is answered with batch_too_large', async () => {
  expectQueued(await postRaw(pipeline, tenant, bodyOf(bodyBytesMax)), 1);
  expectError(await postRaw(pipeline, tenant, bodyOf(bodyBytesMax + 1)), 'batch_too_large');
  expectError(await postRaw(pipeline, tenant, Buffer.alloc(40 * 1024 * 1024)), 'batch_too_large');
});

test('the limit also applies to a body without a declared length', async () => {
  const post = (body: string) => {
    const chunks = body.replace(/.{1,65536}/g, (part) => `${part.length.toString(16)}\r\n${part}\r\n`);
    return postOverSocket(
      `Host: x\r\nAuthorization: Bearer ${tenant.apiKey}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunks}0\r\n\r\n`,
    );
  };
  expect(await post(bodyOf(bodyBytesMax).toString())).toMatch(/^HTTP\/1.1 202 /);
  expect(await post(bodyOf(bodyBytesMax + 1).toString())).toMatch(/^HTTP\/1.1 413 .*batch_too_large/s);
});

test('the last of duplicate keys wins', async () => {
  const event = JSON.stringify(toolEvent());
  const twice = event.replace('"durationMs"', '"durationMs":"x","durationMs"');
  expectQueued(await postRaw(pipeline, tenant, `{"events":[0],"events":[${twice}]}`), 1);
  expectError(await postRaw(pipeline, tenant, `{"events":[${event}],"events":0}`), 'invalid_event_batch');
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'the key %s is an ordinary key, and cannot replace a required field',
  async (key) => {
    const extra = `"${key}":{"id":1,"type":"llm","length":0,"events":[]}`;
    const event = JSON.stringify(toolEvent({ additionalProperties: { HERE: 1 } }));
    const spoilt = event.replace('"HERE":1', `"${key}":"x"`).replace('{', `{${extra},`);
    expectQueued(await postRaw(pipeline, tenant, `{${extra},"events":[${spoilt}]}`), 1);
    expectError(await postRaw(pipeline, tenant, `{${extra}}`), 'invalid_event_batch', /events is required/);
    const without = event.replace(/"id":"[^"]+"/, extra);
    expectError(await postRaw(pipeline, tenant, `{"events":[${without}]}`), 'invalid_event_batch', /\.id is/);
  },
);

test.each(['text/plain', 'application/x-protobuf', 'nonsense', ''])(
  'a body with Content-Type "%s" is read as JSON',
  async (contentType) => {
    const headers = { 'content-type': contentType };
    expectQueued(await postRaw(pipeline, tenant, '{"events":[]}', { headers }), 0);
  },
);

test('other paths are 404, other methods 405 with Allow', async () => {
  const get = async (path: string, method = 'GET'): Promise<Answer> => {
    const response = await fetch(`${pipeline.url}${path}`, { method });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  expectError(await get('/'), 'not_found');
  expectError(await get('/v1/ingest-events/'), 'not_found');
  expectError(await get('/toString'), 'not_found');
  const answer = await get('/v1/ingest-events?x=1');
  expectError(answer, 'method_not_allowed');
  expect(answer.headers.get('allow')).toBe('POST');
  expectError(await get('/v1/ingest-events', 'DELETE'), 'method_not_allowed');
});

test('the request target may be an absolute URL', async () => {
  const answer = await overSocket(
    'GET http://example.test/healthz?x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
});

test('a malformed HTTP request is answered in the error shape, and the connection is closed', async () => {
  for (const headers of ['No colon\r\n\r\n', 'Host: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}']) {
    expect(await postOverSocket(headers)).toMatch(/^HTTP\/1.1 400 .*"id":"invalid_request_body"/s);
  }
});

test('a connection remains usable after a rejected request', async () => {
  const rejected = `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`;
  const answer = await overSocket(`${rejected}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 401 .*HTTP\/1.1 200 /s);
});

test('the response headers contain the batch id and the usage of the quota', async () => {
  const limited = await pipeline.createTenant({ monthlyEventLimit: 100 });
  const { headers } = await postEvents(pipeline, limited, [llmEvent()]);
  expect(headers.get('weir-batch-id')).toMatch(/^[0-9a-f-]{36}:\d+-\d+$/);
  expect(headers.get('weir-quota-limit')).toBe('100');
  expect(headers.get('weir-quota-used')).toBe('0');
  const resetMs = Date.now() + Number(headers.get('weir-quota-reset')) * 1_000;
  expect(new Date(resetMs + 1_000).toISOString()).toMatch(/^\d{4}-\d\d-01T00:00:0/);
  const unlimited = await postEvents(pipeline, tenant, [llmEvent()]);
  expect(unlimited.headers.has('weir-quota-reset')).toBe(false);
});

test('/healthz and /readyz respond with 200', async () => {
  expect((await fetch(`${pipeline.url}/healthz`)).status).toBe(200);
  const readiness = await fetch(`${pipeline.url}/readyz`);
  expect([readiness.status, await readiness.json()]).toEqual([200, { ready: true, waitingFor: [] }]);
});

function postOverSocket(headersAndBody: string): Promise<string> {
  return overSocket(`POST /v1/ingest-events HTTP/1.1\r\n${headersAndBody}`);
}

/** Writes bytes that no client library would send, and reads until the server closes the connection. */
async function overSocket(bytes: string): Promise<string> {
  const { hostname, port } = new URL(pipeline.url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return text(socket);
}
