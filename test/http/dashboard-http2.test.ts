import { once } from 'node:events';
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { http2HeaderBytesMax } from '../../platform/http/limits.ts';
import { drainTimeoutMessage } from '../../platform/http/listener.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { createOwner } from '../../store/accounts/users.ts';
import { openDashboard, type TestDashboard } from '../support/dashboard.ts';
import { CertificateFiles, makePair, type Pair } from '../support/protocols/certificate.ts';
import { exchange, openSession } from '../support/protocols/http2.ts';
import { until } from '../support/wait.ts';

/**
 * The dashboard over HTTP/2, as browsers use it with TLS: not limited to the six connections of HTTP/1.1 per
 * host.
 */

const files = new CertificateFiles();
let pair: Pair;
let dashboard: TestDashboard;
let spaceId: string;
const owner = { email: 'owner@example.org', password: 'a long enough password' };
beforeAll(async () => {
  pair = await makePair();
  files.install(pair);
  dashboard = await openDashboard({ variables: files.variables });
  ({ id: spaceId } = await createSpace(dashboard.database, 'http2'));
  await createOwner(dashboard.database, { ...owner, spaceId });
  await insertParts(dashboard.database, [partOf(spaceId, someEvents(120))]);
});
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]();
  files[Symbol.dispose]();
});

const connect = () => openSession(dashboard, { ca: pair.cert });
const post = (path: string, headers: OutgoingHttpHeaders = {}) => ({
  ':method': 'POST',
  ':path': path,
  'content-type': 'application/json',
  ...headers,
});

async function signIn(session: ClientHttp2Session): Promise<string> {
  const answer = await exchange(session, post('/trpc/auth.signIn'), [JSON.stringify(owner)]);
  expect(answer.status).toBe(200);
  return String(answer.headers['set-cookie']).split(';')[0] ?? '';
}

/** Opens a live stream on the connection. */
function openStream(session: ClientHttp2Session, cookie: string) {
  const input = encodeURIComponent(JSON.stringify({ spaceId }));
  const stream = session.request({ ':path': `/trpc/live.tail?input=${input}`, cookie });
  stream.on('error', () => {});
  const seen = { stream, headers: {} as OutgoingHttpHeaders, text: '' };
  stream.on('response', (headers) => {
    seen.headers = headers;
  });
  stream.on('data', (chunk: Buffer) => {
    seen.text += chunk;
  });
  return seen;
}

test('one connection carries calls and many live streams, without headers that HTTP/2 forbids', async () => {
  using session = await connect();
  expect(session.alpnProtocol).toBe('h2');
  const cookie = await signIn(session);
  expect(cookie).toMatch(/^__Host-weir_session_/);
  const streams = Array.from({ length: 40 }, () => openStream(session, cookie));
  await until(() => streams.every(({ text }) => text.includes('"status"')));
  const events = someEvents(3);
  await insertParts(dashboard.database, [partOf(spaceId, events)]);
  await until(() => streams.every(({ text }) => events.every(({ id }) => text.includes(String(id)))));
  for (const { headers } of streams) {
    expect(headers[':status']).toBe(200);
    expect(headers['content-type']).toContain('text/event-stream');
    expect(headers).not.toHaveProperty('connection');
  }
  // Calls work while streams are open.
  const me = await exchange(session, { ':path': '/trpc/me', cookie });
  expect([me.status, me.text]).toEqual([200, expect.stringContaining(owner.email)]);
  for (const { stream } of streams) stream.close();
});

test('an export has its rows and its trailer, and a page of another site cannot change data', async () => {
  using session = await connect();
  const cookie = await signIn(session);
  const path = `/export/${spaceId}?format=ndjson`;
  const exported = await exchange(session, { ':path': path, cookie });
  const rows = exported.text.trim().split('\n').length - 1;
  expect(rows).toBeGreaterThanOrEqual(120);
  expect(exported.trailers).toMatchObject({ 'weir-export-rows': String(rows) });
  const rename = post('/trpc/spaces.rename', { cookie });
  const body = [JSON.stringify({ spaceId, name: 'renamed' })];
  const evil = await exchange(session, { ...rename, origin: 'https://evil.example' }, body);
  expect(evil.status).toBe(403);
  const own = await exchange(session, { ...rename, origin: dashboard.url }, body);
  expect(own.status).toBe(200);
});

test('bad requests get the same status over HTTP/2 as over HTTP/1.1', async () => {
  using session = await connect();
  expect((await exchange(session, { ':path': '/nothing' })).status).toBe(404);
  expect((await exchange(session, { ':method': 'DELETE', ':path': '/healthz' })).status).toBe(405);
  expect((await exchange(session, { ':path': '/trpc/me' })).status).toBe(401);
  const tunnel = { ':method': 'CONNECT', ':authority': 'x:1' };
  expect((await exchange(session, tunnel, [], { isLeftOpen: true })).status).toBe(405);
  const many = Array.from({ length: 100 }, (_, i) => [`x-${i}`, 'x'.repeat(http2HeaderBytesMax / 100)]);
  const large = exchange(session, { ':path': '/healthz', ...Object.fromEntries(many) });
  await expect(large).rejects.toThrow('NGHTTP2_ENHANCE_YOUR_CALM');
  expect((await exchange(session, { ':path': '/healthz' })).status).toBe(200);
});

test('on shutdown live streams are closed and the connection ends without waiting for clients', async () => {
  const stopping = await openDashboard({ databaseUrl: dashboard.databaseUrl, variables: files.variables });
  using session = await openSession(stopping, { ca: pair.cert });
  const stream = openStream(session, await signIn(session));
  await until(() => stream.text.includes('"status"'));
  const closed = once(session, 'close');
  await stopping[Symbol.asyncDispose]();
  await closed;
  expect(stream.stream.closed).toBe(true);
  expect(stopping.log()).not.toContain(drainTimeoutMessage);
});
