import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';
import { takes } from './send-web-file.ts';
import { readWebFiles } from './web-files.ts';

let directory: string;
let dashboard: TestDashboard;
const script = 'export const x = 1;'.repeat(100);

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'weir-web-'));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(
    join(directory, 'index.html'),
    '<!doctype html><meta name="weir-ingest-url" content=""><meta name="weir-base-path" content=""><script src="./theme.js"></script><title>Weir</title>',
  );
  writeFileSync(join(directory, 'theme.js'), '0');
  const asset = join(directory, 'assets', 'index-B8FkpEcd.js');
  writeFileSync(asset, script);
  writeFileSync(`${asset}.br`, brotliCompressSync(script));
  writeFileSync(`${asset}.gz`, gzipSync(script));
  dashboard = await openDashboard({
    variables: { DASHBOARD_WEB_DIR: directory, INGEST_URL: 'https://in.example/"x' },
  });
});
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const html = { accept: 'text/html,*/*;q=0.8' };
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${dashboard.url}${path}`, { method, headers });

test.for(['/', '/sign-in', '/s/1/events?type=llm'])('the page is sent for %s', async (path) => {
  const response = await get(path, html);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-cache');
  expect(await response.text()).toContain('<title>Weir</title>');
});

test('the page contains the ingest URL, escaped within its attribute', async () => {
  expect(await (await get('/', html)).text()).toContain('content="https://in.example/&quot;x"');
});

test('a browser that has the current page gets 304', async () => {
  const etag = (await get('/', html)).headers.get('etag') ?? '';
  const again = await get('/', { ...html, 'if-none-match': etag });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test.for([
  ['br, gzip', 'br'],
  ['gzip, br;q=0', 'gzip'],
  ['identity', null],
] as const)('an asset is sent as %s allows, and kept forever', async ([accepted, encoding]) => {
  const response = await get('/assets/index-B8FkpEcd.js', { 'accept-encoding': accepted });
  expect(response.headers.get('content-encoding')).toBe(encoding);
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(response.headers.get('vary')).toBe('Accept-Encoding');
  expect(await response.text()).toBe(script);
});

test('an Accept-Encoding header takes linear time, whatever it holds', () => {
  expect(takes('gzip ; q=0.5 , br;q=0.0', 'gzip')).toBe(true);
  expect(takes('gzip ; q=0.5 , br ;\tq=0.0', 'br')).toBe(false);
  // A quadratic pattern takes an hour for a million spaces, and half a second for the 16 KB that Node reads.
  expect(takes(`gzip${' '.repeat(1_000_000)}x`, 'gzip')).toBe(false);
});

test('a file without a hash in its name is revalidated each time', async () => {
  expect((await get('/theme.js')).headers.get('cache-control')).toBe('no-cache');
});

test.for(['/assets/index-00000000.js', '/assets/', '/assets/../index.html.br', '/theme.js.br'])(
  'there is nothing at %s, also for a browser',
  async (path) => {
    const response = await get(path, path.startsWith('/assets/i') || path === '/assets/' ? html : {});
    expect(response.status).toBe(404);
  },
);

test('an unknown path is 404 for a client that does not accept HTML', async () => {
  expect((await get('/nothing', { accept: 'application/json' })).status).toBe(404);
});

test('HEAD returns the headers of GET without a body; other methods are refused', async () => {
  const head = await get('/', html, 'HEAD');
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
  expect((await get('/', html, 'POST')).status).toBe(404);
});

test('the policy lets a page load nothing from other origins, and no other site frame it', async () => {
  const { headers } = await get('/', html);
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src blob:; connect-src 'self'; " +
      "worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  );
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
});

test('a directory without the pages is an error that says so', () => {
  expect(() =>
    readWebFiles(join(directory, 'assets'), { 'weir-ingest-url': '', 'weir-base-path': '' }),
  ).toThrow('has no index.html');
});

test('below a base path all is served with it, and without it for probes and proxies that remove it', async () => {
  await using shared = await openDashboard({
    databaseUrl: dashboard.databaseUrl,
    variables: { DASHBOARD_WEB_DIR: directory, DASHBOARD_BASE_PATH: '/ops/weir' },
  });
  const read = async (path: string) => {
    const response = await fetch(`${shared.url}${path}`, { headers: html });
    return { status: response.status, text: await response.text() };
  };
  for (const path of ['/ops/weir', '/ops/weir/', '/ops/weir?to=x', '/ops/weir/s/1/events', '/s/1/events']) {
    const { text } = await read(path);
    expect([path, text]).toEqual([path, expect.stringContaining('<script src="/ops/weir/theme.js">')]);
    expect(text).toContain('<meta name="weir-base-path" content="/ops/weir">');
  }
  expect(await read('/ops/weir/theme.js')).toEqual({ status: 200, text: '0' });
  expect(await read('/ops/weir/trpc/auth.methods')).toMatchObject({ status: 200 });
  for (const path of ['/healthz', '/ops/weir/healthz']) expect((await read(path)).status).toBe(200);
  // Only whole segments are removed.
  expect((await read('/ops/weirtheme.js')).text).not.toBe('0');
});
