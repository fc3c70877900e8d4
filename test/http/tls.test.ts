import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import {
  CertificateFiles,
  makePair,
  type Pair,
  readFingerprint,
  shakeHands,
} from '../support/protocols/certificate.ts';
import { exchange, openSession } from '../support/protocols/http2.ts';
import { RawConnection } from '../support/protocols/http2-frames.ts';
import { toMessage, toRequest } from '../support/protocols/message.ts';
import { call, ingestPath } from '../support/protocols/rpc-calls.ts';
import { callIngest } from '../support/protocols/rpc-transports.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

const files = new CertificateFiles();
let first: Pair;
beforeAll(async () => {
  first = await makePair();
  files.install(first);
});
afterAll(() => files[Symbol.dispose]());
const { pipeline, tenant } = usePipeline({ variables: files.variables });

const batch = '{"events":[]}';
const headers = () => ({ authorization: `Bearer ${tenant.apiKey}` });

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

test('a gRPC client library is served', async () => {
  const transport = createGrpcTransport({ baseUrl: pipeline.url, nodeOptions: { ca: first.cert } });
  expect(await callIngest(transport, tenant.apiKey, [toMessage(llmEvent())])).toEqual({
    message: 'Queued 1 event.',
  });
});

test.each([[undefined], [['http/1.1']]])('a client with ALPN %s speaks HTTP/1.1', async (alpn) => {
  const socket = await shakeHands(pipeline.url, alpn);
  socket.write(
    `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.apiKey}\r\nContent-Length: 13\r\nConnection: close\r\n\r\n${batch}`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 202 /);
});

test('a connection in clear text, or with bytes that are not TLS, is closed, and others are served', async () => {
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
  await expect(shakeHands(pipeline.url, ['spdy/1'])).rejects.toThrow();
  expect((await postOverHttp1('/v1/ingest-events', 'application/json', batch)).status).toBe(202);
});

test('a client that does not finish its handshake is disconnected', async () => {
  using connection = await RawConnection.open(pipeline);
  await connection.closed;
  expect(connection.received).toHaveLength(0);
});

test('new connections get a renewed certificate, and open connections continue', async () => {
  using session = await openSession(pipeline, { ca: first.cert });
  const renewed = await makePair();
  files.install(renewed);
  await until(async () => (await readFingerprint(pipeline.url)) === renewed.fingerprint);
  const path = { ':method': 'POST', ':path': '/v1/ingest-events', ...headers() };
  expect((await exchange(session, path, [batch])).status).toBe(202);
  using late = await openSession(pipeline, { ca: renewed.cert });
  expect((await exchange(late, path, [batch])).status).toBe(202);
});

test('an unusable certificate is logged and not used; a valid pair that follows is used', async () => {
  const before = await readFingerprint(pipeline.url);
  const warnings = () => pipeline.ingest.log().split('the new certificate is not usable').length - 1;
  const untilWarned = async (change: () => void) => {
    const count = warnings();
    change();
    await until(() => warnings() > count);
  };
  await untilWarned(() => files.replace('certFile', 'not a certificate'));
  expect(await readFingerprint(pipeline.url)).toBe(before);
  const next = await makePair();
  // The new certificate is read before its key is written: it does not match the old key.
  await untilWarned(() => files.replace('certFile', next.cert));
  expect(await readFingerprint(pipeline.url)).toBe(before);
  files.replace('keyFile', next.private);
  await until(async () => (await readFingerprint(pipeline.url)) === next.fingerprint);
  await untilWarned(() => rmSync(files.certFile));
  expect(await readFingerprint(pipeline.url)).toBe(next.fingerprint);
});
