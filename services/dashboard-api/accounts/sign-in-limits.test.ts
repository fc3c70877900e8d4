import { expect, test } from 'vitest';
import {
  signInAccountAttemptsMax,
  signInAttemptsMax,
  signInKeysMax,
  signInNetworkAttemptsMax,
} from './limits.ts';
import { SignInLimits } from './sign-in-limits.ts';

const unknown = async () => false;
const open = () => new SignInLimits(() => 0);

test('attempts on an account are limited over all networks, except from a network it has a session from', async () => {
  const limits = open();
  const from = (i: number) => ({ email: 'a@example.org', address: `10.${i >> 8}.${i & 255}.1` });
  for (let i = 0; i < signInAccountAttemptsMax; i++) expect(await limits.take(from(i), unknown)).toBe(true);
  expect(await limits.take(from(5_000), unknown)).toBe(false);
  expect(await limits.take(from(5_001), async () => true)).toBe(true);
  expect(await limits.take({ ...from(5_002), email: 'b@example.org' }, unknown)).toBe(true);
});

test.each([
  ['IPv4 /24', (i: number) => `198.51.100.${i % 256}`, '198.51.101.1'],
  ['IPv6 /48', (i: number) => `2001:db8:1:${(i % 65_536).toString(16)}::1`, '2001:db8:2::1'],
])('attempts of a network (%s) are limited over all accounts', async (_, address, elsewhere) => {
  const limits = open();
  for (let i = 0; i < signInNetworkAttemptsMax; i++)
    expect(await limits.take({ email: `${i}@example.org`, address: address(i) }, unknown)).toBe(true);
  expect(await limits.take({ email: 'new@example.org', address: address(7) }, unknown)).toBe(false);
  expect(await limits.take({ email: 'new@example.org', address: elsewhere }, unknown)).toBe(true);
});

test('attempts with junk addresses do not displace the count of an account', async () => {
  const limits = open();
  const guess = { email: 'victim@example.org', address: '192.0.2.1' };
  for (let i = 0; i < signInAttemptsMax; i++) await limits.take(guess, unknown);
  expect(await limits.take(guess, unknown)).toBe(false);
  for (let i = 0; i < 2 * signInKeysMax; i++)
    await limits.take({ email: `junk-${i}`, address: `10.${(i >> 8) & 255}.${i & 255}.1` }, unknown);
  expect(await limits.take(guess, unknown)).toBe(false);
});

test('successful attempts do not count', async () => {
  const limits = open();
  const attempt = { email: 'a@example.org', address: '192.0.2.1' };
  for (let i = 0; i < 2 * signInNetworkAttemptsMax; i++) {
    expect(await limits.take(attempt, unknown)).toBe(true);
    limits.clear(attempt);
  }
});
