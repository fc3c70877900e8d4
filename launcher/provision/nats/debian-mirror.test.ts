import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findDebianMirror } from './debian-mirror.ts';

let aptDir: string;

beforeEach(() => {
  aptDir = mkdtempSync(join(tmpdir(), 'weir-apt-'));
  mkdirSync(join(aptDir, 'sources.list.d'));
});
afterEach(() => rmSync(aptDir, { recursive: true }));

test('a mirror is read from the one-line format, ignoring comments, options and the security archive', () => {
  writeFileSync(
    join(aptDir, 'sources.list'),
    [
      '# deb http://commented.example/debian stable main',
      'deb http://security.example/debian-security stable-security main',
      'deb [arch=amd64 signed-by=/usr/share/keyrings/k.gpg] http://mirror.example/debian/ stable main',
    ].join('\n'),
  );
  expect(findDebianMirror(aptDir)).toBe('http://mirror.example/debian/');
});

test('a mirror is read from the deb822 format', () => {
  writeFileSync(
    join(aptDir, 'sources.list.d', 'debian.sources'),
    'Types: deb\n# http://snapshot.example/debian\nURIs: http://other.example/x http://mirror.example/debian\nSuites: stable\n',
  );
  expect(findDebianMirror(aptDir)).toBe('http://mirror.example/debian');
});

test('a machine without a Debian mirror is an error', () => {
  writeFileSync(join(aptDir, 'sources.list.d', 'other.list'), 'deb http://other.example/tools stable main\n');
  expect(() => findDebianMirror(aptDir)).toThrow('no Debian mirror is configured');
});
