import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from './support/events.ts';
import { exchange, openSession } from './support/http2.ts';
import { RawConnection } from './support/http2-frames.ts';
import { toMessage, toRequest } from './support/message.ts';
import { type Pipeline, startPipeline, type Tenant } from './support/pipeline.ts';
import { callIngest } from './support/protocols.ts';
import { call, ingestPath } from './support/rpc-calls.ts';
import { until } from './support/wait.ts';

interface Pair {
  cert: string;
  private: string;
  fingerprint: string;
}

function makePair(): Promise<Pair> {
  const altNames = [{ type: 7 as const, ip: '127.0.0.1' }];
  return generate([{ name: 'commonName', value: 'weir.test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames }],
  });
}

const directory = mkdtempSync(join(tmpdir(), 'weir-test-tls-'));
const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];

/** As those do who renew certificates: a file is whole whenever it is looked at. */
function replace(file: string, content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

function install(pair: Pair): void {
  replace(certFile, pair.cert);
  replace(keyFile, pair.private);
}

let first: Pair;
let pipeline: Pipeline;
let tenant: Tenant;
beforeAll(async () => {
  first = await makePair();
  install(first);
  pipeline = await startPipeline({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });
  tenant = await pipeline.createTenant();
});
afterAll(async () => {
  await pipeline?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const batch = '{"events":[]}';
const headers = () => ({ authorization: `Bearer ${tenant.apiKey}` });

/** Shakes hands, whoever the server says it is. */
async function shakeHands(ALPNProtocols?: string[]): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(pipeline.url);
  const socket = connectTls({ host, port: Number(port), rejectUnauthorized: false, ALPNProtocols });
  await once(socket, 'secureConnect');
  return socket;
}

/** The fingerprint of the certificate that new connections are shown. */
async function shownFingerprint(): Promise<string> {
  const socket = await shakeHands();
  const { fingerprint } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint;
}

/** The same as the certificate tells it. */
const fingerprintOf = (pair: Pair) => pair.fingerprint.toUpperCase();

async function postOverHttp1(path: string, contentType: string, body: string | Uint8Array) {
  const options = { method: 'POST', ca: first.cert, headers: { ...headers(), 'content-type': contentType } };
  const sending = request(pipeline.url + path, options);
  sending.end(body);
  const [response] = await once(sending, 'response');
  return { status: response.statusCode, text: await text(response) };
}

test('clients choose HTTP/2 or HTTP/1.1 by ALPN, and both serve JSON and RPC', async () => {
  expect(pipeline.url).toMatch(/^https:/);
  using session = await openSession(pipeline, { ca: first.cert });
  expect(session.alpnProtocol).toBe('h2');
  const path = { ':method': 'POST', ':path': '/v1/ingest-events', ...headers() };
  expect((await exchange(session, path, [batch])).status).toBe(202);
  for (const protocol of ['connect', 'grpc', 'grpc-web'] as const) {
    expect((await call(session, protocol, toRequest([llmEvent()]), { headers: headers() })).code).toBe('Ok');
  }
  expect((await postOverHttp1('/v1/ingest-events', 'application/json', batch)).status).toBe(202);
  const rpc = await postOverHttp1(ingestPath, 'application/proto', toRequest([llmEvent()]));
  expect([rpc.status, rpc.text]).toEqual([200, expect.stringContaining('Queued 1 event.')]);
});

test('a gRPC client of a library is served', async () => {
  const transport = createGrpcTransport({ baseUrl: pipeline.url, nodeOptions: { ca: first.cert } });
  expect(await callIngest(transport, tenant.apiKey, [toMessage(llmEvent())])).toEqual({
    message: 'Queued 1 event.',
  });
});

test.each([[undefined], [['http/1.1']]])('with %s as its ALPN a client speaks HTTP/1.1', async (alpn) => {
  const socket = await shakeHands(alpn);
  socket.write(
    `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.apiKey}\r\nContent-Length: 13\r\nConnection: close\r\n\r\n${batch}`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 202 /);
});

test('clear text, and what is no TLS, is cut off, and others are served', async () => {
  for (const bytes of [
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\xff\xff',
  ]) {
    using connection = await RawConnection.open(pipeline, Buffer.from(bytes, 'latin1'));
    if (bytes.startsWith('\x16')) connection.socket.resetAndDestroy();
    await connection.closed;
    expect(connection.received.toString('latin1')).not.toContain('HTTP');
  }
  await expect(shakeHands(['spdy/1'])).rejects.toThrow();
  expect((await postOverHttp1('/v1/ingest-events', 'application/json', batch)).status).toBe(202);
});

test('a client that does not finish its handshake is cut off', async () => {
  using connection = await RawConnection.open(pipeline);
  await connection.closed;
  expect(connection.received).toHaveLength(0);
});

test('a renewed certificate is shown to new connections, and old connections go on', async () => {
  using session = await openSession(pipeline, { ca: first.cert });
  const renewed = await makePair();
  install(renewed);
  await until(async () => (await shownFingerprint()) === fingerprintOf(renewed));
  const path = { ':method': 'POST', ':path': '/v1/ingest-events', ...headers() };
  expect((await exchange(session, path, [batch])).status).toBe(202);
  using late = await openSession(pipeline, { ca: renewed.cert });
  expect((await exchange(late, path, [batch])).status).toBe(202);
});

test('what cannot be used changes nothing and is told; the good pair that follows is used', async () => {
  const before = await shownFingerprint();
  const warnings = () => pipeline.ingest.log().split('the renewed certificate cannot be used').length - 1;
  const told = warnings();
  replace(certFile, 'no certificate');
  await until(() => warnings() > told);
  expect(await shownFingerprint()).toBe(before);
  const next = await makePair();
  // One after the other, with time enough between them for a look: the certificate does not go with the old key.
  const toldOfBroken = warnings();
  replace(certFile, next.cert);
  await until(() => warnings() > toldOfBroken);
  expect(await shownFingerprint()).toBe(before);
  replace(keyFile, next.private);
  await until(async () => (await shownFingerprint()) === fingerprintOf(next));
  rmSync(certFile);
  const toldOfNext = warnings();
  await until(() => warnings() > toldOfNext);
  expect(await shownFingerprint()).toBe(fingerprintOf(next));
});
