import { once } from 'node:events';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drainTimeoutMessage } from '../../platform/http/listener.ts';
import {
  CertificateFiles,
  makePair,
  type Pair,
  readFingerprint,
  shakeHands,
} from '../support/protocols/certificate.ts';
import { type ServiceProcess, startService } from '../support/service-process.ts';
import { createDatabase } from '../support/test-servers.ts';
import { until } from '../support/wait.ts';

/** The dashboard API over TLS, with the same certificate reloading as ingest. */

const files = new CertificateFiles();
let first: Pair;
let database: Awaited<ReturnType<typeof createDatabase>>;
let service: ServiceProcess;
let url: string;
beforeAll(async () => {
  first = await makePair();
  files.install(first);
  database = await createDatabase();
  service = await startService('dashboard-api', {
    DATABASE_URL: database.url,
    API_KEY_PEPPER: 'pepper-of-the-tests-only',
    DASHBOARD_PORT: '0',
    ...files.variables,
  });
  url = service.ready.url ?? '';
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
  files[Symbol.dispose]();
});

async function get(path: string, { cert }: Pair) {
  const sending = request(url + path, { ca: cert, agent: false }).end();
  const [response] = await once(sending, 'response');
  return { status: response.statusCode, text: await text(response) };
}

test('it serves requests over TLS', async () => {
  expect(url).toMatch(/^https:/);
  expect(await get('/readyz', first)).toEqual({ status: 200, text: '{"ready":true,"waitingFor":[]}' });
  expect((await get('/trpc/me', first)).status).toBe(401);
});

test('new connections get a renewed certificate, and open connections continue', async () => {
  const open = await shakeHands(url);
  const renewed = await makePair();
  files.install(renewed);
  await until(async () => (await readFingerprint(url)) === renewed.fingerprint);
  expect(await get('/readyz', renewed)).toMatchObject({ status: 200 });
  open.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(await text(open)).toMatch(/^HTTP\/1\.1 200 /);
});

test('an unusable certificate is logged and not used', async () => {
  const before = await readFingerprint(url);
  files.replace('certFile', 'not a certificate');
  await until(() => service.log().includes('the new certificate is not usable'));
  expect(await readFingerprint(url)).toBe(before);
});

test('SIGTERM stops it in order while a handshake and a request are unfinished', async () => {
  const silent = await shakeHands(url);
  const half = await shakeHands(url);
  half.write('POST /trpc/auth.signIn HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
  for (const socket of [silent, half]) socket.on('error', () => {}).resume();
  // A response on a later connection shows that the bytes sent before have arrived.
  await readFingerprint(url);
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(service.log()).toContain(drainTimeoutMessage);
});
