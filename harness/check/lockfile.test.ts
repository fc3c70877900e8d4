import { expect, test } from 'vitest';
import { findMissingOptional, platformOf } from './lockfile.ts';

test('an optional package that is missing in the lock file is found', () => {
  const packages = {
    '': {},
    'node_modules/tool': {
      dev: true,
      optionalDependencies: {
        '@tool/linux-x64': '1.2.3',
        '@tool/darwin-arm64': '^1.2.3',
        '@tool/nested': '1.0.0',
      },
    },
    'node_modules/@tool/linux-x64': { version: '1.2.3' },
    'node_modules/tool/node_modules/@tool/nested': { version: '1.0.0' },
  };
  expect(findMissingOptional(packages)).toEqual([
    { name: '@tool/darwin-arm64', version: '1.2.3', dev: true },
  ]);
});

test.for([
  ['@x/cli-linux-arm64-musl', { os: ['linux'], cpu: ['arm64'], libc: ['musl'] }],
  ['@x/binding-linux-arm-gnueabihf', { os: ['linux'], cpu: ['arm'], libc: ['glibc'] }],
  ['@x/buf-linux-armv7', { os: ['linux'], cpu: ['arm'] }],
  ['@x/oxide-wasm32-wasi', { cpu: ['wasm32'] }],
  ['@x/binding-win32-x64-msvc', { os: ['win32'], cpu: ['x64'] }],
] as const)('the platform of %s is read from its name', ([name, platform]) => {
  expect(platformOf(name)).toEqual(platform);
});

test('a package name without a platform is an error', () => {
  expect(() => platformOf('@x/wasm')).toThrow('does not contain a platform');
});
