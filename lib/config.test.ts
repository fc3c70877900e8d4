import { expect, test } from 'vitest';
import { ConfigError, parseConfig } from './config.ts';

test('an empty variable counts as unset, and every mistake is listed at once', () => {
  expect(parseConfig({ INGEST_PORT: '' }).INGEST_PORT).toBe(8080);
  const parse = () => parseConfig({ INGEST_PORT: 'x', WEIR_VENDOR: 'Acme' });
  expect(parse).toThrow(ConfigError);
  expect(parse).toThrow(/mistakes:\n {2}INGEST_PORT: .*\n {2}WEIR_VENDOR: .*/);
});

test('the vendor is WEIR_VENDOR; the VENDOR that tcsh exports is ignored', () => {
  expect(parseConfig({ VENDOR: 'apple' }).WEIR_VENDOR).toBe('weir');
  expect(parseConfig({ WEIR_VENDOR: 'acme', VENDOR: 'apple' }).WEIR_VENDOR).toBe('acme');
});

test('trusted proxies are addresses and networks, and nothing else', () => {
  expect(parseConfig({}).TRUSTED_PROXIES).toEqual([]);
  const some = '127.0.0.1, 10.0.0.0/8,::1,2001:db8::/32';
  expect(parseConfig({ TRUSTED_PROXIES: some }).TRUSTED_PROXIES).toEqual([
    '127.0.0.1',
    '10.0.0.0/8',
    '::1',
    '2001:db8::/32',
  ]);
  for (const bad of [
    'proxy',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/129',
    '*',
    '10.0.0.0/8,',
    'fe80::1%eth0',
  ])
    expect(() => parseConfig({ TRUSTED_PROXIES: bad })).toThrow(
      /TRUSTED_PROXIES\.\d: must be addresses or networks/,
    );
});
