import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataDirectory } from './data-directory.ts';

const gibibyte = 1024 ** 3;
let parent: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'weir-data-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

test('the secrets are generated once, and are readable only to the owner', () => {
  const path = join(parent, 'new');
  const first = openDataDirectory(path);
  expect(openDataDirectory(path).secrets).toEqual(first.secrets);
  expect(statSync(join(path, 'secrets.json')).mode & 0o777).toBe(0o600);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test('a directory of a newer version is rejected and not changed', () => {
  const layout = '{"version":2,"somethingNew":true}';
  writeFileSync(join(parent, 'layout.json'), layout);
  expect(() => openDataDirectory(parent)).toThrow(/newer version of Weir.*WEIR_DATA_DIR/);
  expect(readFileSync(join(parent, 'layout.json'), 'utf8')).toBe(layout);
  expect(existsSync(join(parent, 'secrets.json'))).toBe(false);
});

test('a full disk is rejected', () => {
  expect(() => openDataDirectory(parent, () => 400 * 1024 ** 2)).toThrow(/is full: 400 MB are free.*500/);
});

test('a file instead of a directory is rejected with advice', () => {
  const file = join(parent, 'file');
  writeFileSync(file, '');
  expect(() => openDataDirectory(file)).toThrow(/is not a directory.*Set WEIR_DATA_DIR/);
});

test("JetStream's limit is a share of the free space, has a maximum, and never shrinks", () => {
  const limit = (free: number) => openDataDirectory(parent, () => free).natsFileBytesMax;
  expect(limit(2 * gibibyte)).toBe(Math.floor(1.4 * gibibyte));
  expect(limit(100 * gibibyte)).toBe(10 * gibibyte);
  expect(limit(gibibyte)).toBe(10 * gibibyte);
});
