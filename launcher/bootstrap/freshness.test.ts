import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findStalePackage } from './freshness.mjs';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-fresh-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const wanted = {
  '': { version: '1.0.0', dependencies: { a: '1.0.0' } },
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/native': { version: '1.0.0', optional: true },
  lab: { version: '1.0.0', devDependencies: { b: '1.0.0' } },
  'node_modules/b': { version: '1.0.0', integrity: 'sha512-b' },
};
const product = { packages: false };

test('without node_modules, node_modules is reported', () => {
  write('package-lock.json', wanted);
  expect(findStalePackage(root, product)).toBe('node_modules');
});

test('an installation from this lock file is fresh, even without the packages of other platforms', () => {
  write('package-lock.json', wanted);
  write('node_modules/.package-lock.json', { 'node_modules/a': wanted['node_modules/a'] });
  expect(findStalePackage(root, product)).toBeUndefined();
});

test.for([
  ['another version', { version: '0.9.0', integrity: 'sha512-a' }],
  ['other contents', { version: '1.0.0', integrity: 'sha512-b' }],
  ['nothing', undefined],
] as const)('a package is stale when %s is installed', ([, installed]) => {
  write('package-lock.json', wanted);
  write('node_modules/.package-lock.json', installed ? { 'node_modules/a': installed } : {});
  expect(findStalePackage(root, product)).toBe('node_modules/a');
});

test('the packages of a workspace are missing only where they are needed', () => {
  write('package-lock.json', wanted);
  write('node_modules/.package-lock.json', { 'node_modules/a': wanted['node_modules/a'] });
  expect(findStalePackage(root, { packages: true })).toBe('node_modules/b');
});

test('an installed package that the lock file does not have is stale', () => {
  write('package-lock.json', wanted);
  write('node_modules/.package-lock.json', {
    'node_modules/a': wanted['node_modules/a'],
    'node_modules/a/node_modules/c': { version: '1.0.0' },
  });
  expect(findStalePackage(root, product)).toBe('node_modules/a/node_modules/c');
});

test('an interrupted installation is stale', () => {
  write('package-lock.json', wanted);
  mkdirSync(join(root, 'node_modules', 'a'), { recursive: true });
  expect(findStalePackage(root, product)).toBe('node_modules');
});

function write(file: string, packages: object): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), JSON.stringify({ packages }));
}
