import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from './config/config-error.ts';
import { parseConfig } from './config.ts';

test('an empty variable counts as unset, and every mistake is listed at once', () => {
  expect(parseConfig({ INGEST_PORT: '' }).INGEST_PORT).toBe(8080);
  const parse = () => parseConfig({ INGEST_PORT: 'x', WEIR_VENDOR: 'Acme' });
  expect(parse).toThrow(ConfigError);
  expect(parse).toThrow(/mistakes:\n {2}INGEST_PORT: must be a whole number, not x\n {2}WEIR_VENDOR: .*/);
});

test('variables that are missing, and those that do not fit together, are listed with the others', () => {
  const env = {
    INGEST_PORT: 'x',
    TLS_CERT_FILE: 'cert.pem',
    SSO_REQUIRED: 'true',
    OIDC_ISSUER: 'here',
    SMTP_URL: 'x',
  };
  const parse = () => parseConfig(env, ['DATABASE_URL', 'WEIR_DATA_DIR', 'NATS_URL']);
  const lines = [
    'DATABASE_URL: must be set',
    'WEIR_DATA_DIR: must',
    'NATS_URL: must be set',
    'INGEST_PORT: ',
    'TLS_CERT_FILE: and',
  ];
  for (const line of [
    ...lines,
    'SMTP_URL: must be a URL',
    'SMTP_URL: and',
    'OIDC_ISSUER: must',
    'OIDC_ISSUER: needs',
  ])
    expect(parse).toThrow(`\n  ${line}`);
});

test('a secret may be in a file; the variable itself wins, and a file that cannot be read is one of the mistakes', () => {
  using file = temporaryFile('pepper-from-a-file\n');
  expect(parseConfig({ API_KEY_PEPPER_FILE: file.path }).API_KEY_PEPPER).toBe('pepper-from-a-file');
  const both = { API_KEY_PEPPER_FILE: file.path, API_KEY_PEPPER: 'pepper-of-the-tests-only' };
  expect(parseConfig(both).API_KEY_PEPPER).toBe('pepper-of-the-tests-only');
  const parse = () => parseConfig({ DATABASE_URL_FILE: '/nonexistent', NATS_URL_FILE: file.path });
  expect(parse).toThrow(/DATABASE_URL_FILE: cannot be read \(ENOENT\)\n {2}NATS_URL: must be/);
});

function temporaryFile(content: string) {
  const directory = mkdtempSync(join(tmpdir(), 'weir-config-'));
  const path = join(directory, 'secret');
  writeFileSync(path, content);
  return { path, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

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
