import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requirePinned } from './nats-from-go.ts';
import { findNatsServer, type NatsSource } from './nats-sources.ts';
import { natsSourceSum, natsVersion } from './nats-version.ts';

let directory: string;
let cacheDir: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'weir-sources-'));
  cacheDir = join(directory, 'cache');
});
afterEach(() => rmSync(directory, { recursive: true }));

test('a nats-server on the PATH is used', async () => {
  const binary = fakeServer(join(directory, 'bin'), 'nats-server', '2.11.4');
  const found = await findNatsServer({ searchPath: `/nowhere:${directory}/bin`, cacheDir, sources: [] });
  expect(found).toEqual({ binary, version: '2.11.4' });
});

test('a version that is too old is skipped, and the newest cached copy is used', async () => {
  fakeServer(join(directory, 'bin'), 'nats-server', '2.10.9');
  fakeServer(cacheDir, 'nats-server-2.11.9', '2.11.9');
  const newest = fakeServer(cacheDir, 'nats-server-2.15.1', '2.15.1');
  const found = await findNatsServer({ searchPath: join(directory, 'bin'), cacheDir, sources: [] });
  expect(found).toEqual({ binary: newest, version: '2.15.1' });
});

test('sources are tried in order, and the download is cached for the next start', async () => {
  const asked: string[] = [];
  const sources = [
    source('first', asked, () => {
      throw new Error('unreachable');
    }),
    source('second', asked, (scratch) => fakeServer(scratch, 'download', '2.9.0')),
    source('third', asked, (scratch) => fakeServer(scratch, 'download', '2.15.1')),
    source('fourth', asked, (scratch) => fakeServer(scratch, 'download', '2.15.2')),
  ];
  const reports: string[] = [];
  const search = { searchPath: '', cacheDir, sources, report: (step: string) => reports.push(step) };
  expect(await findNatsServer(search)).toEqual({
    binary: join(cacheDir, 'nats-server-2.15.1'),
    version: '2.15.1',
  });
  await findNatsServer(search);
  expect(asked).toEqual(['first', 'second', 'third']);
  expect(reports).toHaveLength(3);
  expect(readdirSync(cacheDir)).toEqual(['nats-server-2.15.1']);
});

test('when every source fails, the error lists all reasons and what to do', async () => {
  fakeServer(join(directory, 'bin'), 'nats-server', '2.10.9');
  const sources = [
    source('first', [], () => {
      throw new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND') });
    }),
    source('second', [], (scratch) => fakeServer(scratch, 'download', '2.9.0')),
  ];
  const failing = findNatsServer({ searchPath: join(directory, 'bin'), cacheDir, sources });
  await expect(failing).rejects.toThrow(
    /bin\/nats-server is 2\.10\.9, and Weir needs 2\.11\.0[\s\S]*first: fetch failed \(getaddrinfo ENOTFOUND\)[\s\S]*second: .* is 2\.9\.0[\s\S]*on the PATH.*NATS_URL/,
  );
});

test('an aborted search tries no further source', async () => {
  const stopping = new AbortController();
  const asked: string[] = [];
  const sources = [
    source('first', asked, () => {
      stopping.abort(new Error('stopped'));
      throw new Error('killed');
    }),
    source('second', asked, () => ''),
  ];
  const failing = findNatsServer({ searchPath: '', cacheDir, sources, signal: stopping.signal });
  await expect(failing).rejects.toThrow('stopped');
  expect(asked).toEqual(['first']);
});

function source(name: string, asked: string[], get: (scratch: string) => string): NatsSource {
  return {
    name,
    get: async (scratch) => {
      asked.push(name);
      return get(scratch);
    },
  };
}

/** A program that prints a version as nats-server does. */
function fakeServer(parent: string, name: string, version: string): string {
  mkdirSync(parent, { recursive: true });
  const binary = join(parent, name);
  writeFileSync(binary, `#!/bin/sh\necho "nats-server: v${version}"\n`);
  chmodSync(binary, 0o755);
  return binary;
}

test('a source of nats-server with another checksum than the pinned one is not built', () => {
  requirePinned(JSON.stringify({ Version: `v${natsVersion}`, Sum: natsSourceSum }));
  for (const answer of [{ Sum: 'h1:AAAA' }, {}])
    expect(() => requirePinned(JSON.stringify(answer))).toThrow('has the checksum');
});
