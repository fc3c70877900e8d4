import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildWeb } from './web-build.ts';

let cacheDir: string;
beforeAll(() => {
  cacheDir = mkdtempSync(join(tmpdir(), 'weir-web-build-'));
});
afterAll(() => rmSync(cacheDir, { recursive: true }));

test('two concurrent builds produce one complete build, which a later build reuses', {
  timeout: 120_000,
}, async () => {
  const [first, second] = await Promise.all([buildWeb({ cacheDir }), buildWeb({ cacheDir })]);
  expect(second.directory).toBe(first.directory);
  expect(readdirSync(cacheDir)).toHaveLength(1);
  expect(await buildWeb({ cacheDir })).toEqual({ directory: first.directory, wasBuilt: false });

  const html = readFileSync(join(first.directory, 'index.html'), 'utf8');
  const [, entry = ''] = /<script type="module"[^>]* src="\.\/(assets\/[^"]+-[\w-]{8}\.js)"/.exec(html) ?? [];
  const script = readFileSync(join(first.directory, entry));
  expect(brotliDecompressSync(readFileSync(join(first.directory, `${entry}.br`)))).toEqual(script);
  expect(gunzipSync(readFileSync(join(first.directory, `${entry}.gz`)))).toEqual(script);
  // The Content-Security-Policy forbids inline scripts and styles.
  expect(html).not.toMatch(/<style|<script(?![^>]* src=)| style=| on\w+=/);
});

test('an aborted start leaves no unfinished build', async () => {
  const directory = join(cacheDir, 'stopped');
  await expect(buildWeb({ cacheDir: directory, signal: AbortSignal.abort() })).rejects.toThrow();
  expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
});
