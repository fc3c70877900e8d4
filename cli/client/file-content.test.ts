import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { openFileContent } from './file-content.ts';

const directory = mkdtempSync(join(tmpdir(), 'weir-test-file-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The files of this test that the process has open, from /proc. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path.startsWith(directory) ? [path] : [];
    } catch {
      return [];
    }
  });
}

const content = Buffer.alloc(8 * 1024 * 1024, '{"resourceSpans":[]}\n');

// Node 26 ends a process that leaves an open file to the garbage collector.
test.runIf(process.platform === 'linux').each([
  ['plain', content, {}],
  ['plain, memory used again', content, { isReused: true }],
  ['gzip', gzipSync(content, { level: 0 }), { isReused: true }],
])('a file whose reader stops early is closed: %s', async (name, bytes, options) => {
  const path = join(directory, name);
  writeFileSync(path, bytes);
  const { chunks } = await openFileContent(path, options);
  expect(openFiles()).toEqual([path]);
  for await (const chunk of chunks) {
    expect(content.subarray(0, chunk.length)).toEqual(chunk);
    break;
  }
  await expect.poll(openFiles).toEqual([]);
});

test('a truncated archive yields its content, then an error', async () => {
  const path = join(directory, 'truncated');
  writeFileSync(path, gzipSync(content, { level: 0 }).subarray(0, 3 * 1024 * 1024));
  const { chunks } = await openFileContent(path);
  let bytes = 0;
  const read = async () => {
    for await (const chunk of chunks) bytes += chunk.length;
  };
  await expect(read()).rejects.toThrow('unexpected end of file');
  expect(bytes).toBeGreaterThan(0);
});
