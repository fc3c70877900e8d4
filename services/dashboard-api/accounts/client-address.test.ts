import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openClient, openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';
import { createFindAddress, networkOf } from './client-address.ts';
import { signInAttemptsMax, tokenAttemptsMax } from './limits.ts';

let dashboards: { direct: TestDashboard; proxied: TestDashboard };
beforeAll(async () => {
  const direct = await openDashboard();
  const proxied = await openDashboard({ variables: { TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' } });
  dashboards = { direct, proxied };
});
afterAll(async () => {
  await dashboards.direct[Symbol.asyncDispose]();
  await dashboards.proxied[Symbol.asyncDispose]();
});

const requestOf = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

test('only entries of X-Forwarded-For added by trusted proxies count', () => {
  const find = createFindAddress(['10.0.0.0/8', '192.0.2.7', '2001:db8:1::/48']);
  const cases: [remote: string, forwarded: string | undefined, client: string][] = [
    // Not from a proxy: the header is ignored.
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['203.0.113.9', undefined, '203.0.113.9'],
    // One proxy: the last address counts, whatever the client sent.
    ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '6.6.6.6, 198.51.100.1', '198.51.100.1'],
    ['::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['2001:db8:1::5', '2001:DB8:0:0::1', '2001:db8::1'],
    // Two proxies, and a client that claims to be a third.
    ['10.1.2.3', '10.9.9.9, 198.51.100.1, 192.0.2.7', '198.51.100.1'],
    // All addresses are trusted: the first one counts.
    ['10.1.2.3', '10.9.9.9, 192.0.2.7', '10.9.9.9'],
    // With ports, as some proxies add.
    ['10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['10.1.2.3', '[2001:db8::2]:4711', '2001:db8::2'],
    // Missing or not an address: the address of the proxy is used.
    ['10.1.2.3', undefined, '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
    ['10.1.2.3', '198.51.100.1, fe80::1%eth0', '10.1.2.3'],
    ['10.1.2.3', "198.51.100.1, '; DROP TABLE", '10.1.2.3'],
  ];
  for (const [remote, forwarded, client] of cases) {
    expect([remote, forwarded, find(requestOf(remote, forwarded))]).toEqual([remote, forwarded, client]);
  }
  expect(createFindAddress([])(requestOf('127.0.0.1', '198.51.100.1'))).toBe('127.0.0.1');
  expect(createFindAddress([])(requestOf('::ffff:127.0.0.1'))).toBe('127.0.0.1');
});

test('attempts are counted by IPv4 address, or by the /64 of an IPv6 address', () => {
  expect(networkOf('198.51.100.1')).toBe('198.51.100.1');
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
  expect(networkOf('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64');
  expect(networkOf('2001:db8::9')).toBe('2001:db8:0:0::/64');
  expect(networkOf('::1')).toBe('0:0:0:0::/64');
});

test('sessions and audit rows show the client behind a trusted proxy, and ignore the header of other clients', async () => {
  for (const [dashboard, address] of [
    [dashboards.direct, '127.0.0.1'],
    [dashboards.proxied, '198.51.100.1'],
  ] as const) {
    const { email, password, spaceId } = await dashboard.addSpace();
    const { trpc } = openClient(dashboard.url, { 'x-forwarded-for': '6.6.6.6, 198.51.100.1, 10.0.0.2' });
    await trpc.auth.signIn.mutate({ email, password });
    await trpc.spaces.rename.mutate({ spaceId, name: 'renamed' });
    const sessions = await trpc.sessions.list.query();
    expect(sessions.find(({ isCurrent }) => isCurrent)).toMatchObject({ address });
    const { rows } = await trpc.audit.list.query({ spaceId });
    expect(rows[0]).toMatchObject({ action: 'space.change', address });
  }
});

test('changing the header gives a client no more attempts; behind a trusted proxy each client has its own', async () => {
  const wrong = { password: 'not the password' };
  const { email } = await dashboards.direct.addSpace();
  const attempt = (dashboard: TestDashboard, whose: string, forwarded: string) =>
    openClient(dashboard.url, { 'x-forwarded-for': forwarded })
      .trpc.auth.signIn.mutate({ email: whose, ...wrong })
      .then(
        () => 'signed in',
        (error) => String(error.data?.code),
      );
  for (let i = 0; i < signInAttemptsMax; i++)
    expect(await attempt(dashboards.direct, email, `198.51.100.${i}`)).toBe('UNAUTHORIZED');
  expect(await attempt(dashboards.direct, email, '198.51.100.200')).toBe('TOO_MANY_REQUESTS');

  const other = await dashboards.proxied.addSpace();
  for (let i = 0; i < signInAttemptsMax; i++)
    expect(await attempt(dashboards.proxied, other.email, `6.6.6.${i}, 198.51.100.1`)).toBe('UNAUTHORIZED');
  expect(await attempt(dashboards.proxied, other.email, '6.6.6.99, 198.51.100.1')).toBe('TOO_MANY_REQUESTS');
  expect(await attempt(dashboards.proxied, other.email, '198.51.100.2')).toBe('UNAUTHORIZED');

  const look = (forwarded: string) =>
    openClient(dashboards.direct.url, { 'x-forwarded-for': forwarded })
      .trpc.invitations.look.mutate({ token: 'x'.repeat(43) })
      .then(String, (error) => String(error.data?.code));
  const outcomes: string[] = [];
  for (let i = 0; i <= tokenAttemptsMax; i++) outcomes.push(await look(`198.51.100.${i}`));
  expect(outcomes.at(-1)).toBe('TOO_MANY_REQUESTS');
  expect(outcomes.slice(0, -1)).not.toContain('TOO_MANY_REQUESTS');
});
