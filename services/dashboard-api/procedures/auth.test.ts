import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwner } from '../../../store/accounts/users.ts';
import {
  openClient,
  openDashboard,
  type TestClient,
  type TestDashboard,
} from '../../../test/support/dashboard.ts';
import { signInAttemptsMax } from '../accounts/limits.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const code = (value: string) => ({ data: { code: value } });

test('the right password opens a session; the case of the e-mail address does not matter', async () => {
  const { spaceId, email, password } = await dashboard.addSpace();
  const client = openClient(dashboard.url);
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  const signedIn = await client.trpc.auth.signIn.mutate({ email: ` ${email.toUpperCase()}`, password });
  const spaces = [{ id: spaceId, role: 'owner' }];
  expect(signedIn).toMatchObject({ user: { email }, currentSpaceId: spaceId, spaces });
  expect(await client.trpc.me.query()).toEqual(signedIn);
});

test('the cookie is HttpOnly and SameSite=Lax, and Secure behind a proxy that terminates TLS', async () => {
  const { email, password, client } = await dashboard.addSpace();
  const { port } = new URL(dashboard.url);
  expect(client.lastSetCookie).toMatch(
    new RegExp(`^weir_session_${port}=[\\w-]{43}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax$`),
  );
  const proxied = openClient(dashboard.url, { 'x-forwarded-proto': 'https' });
  await proxied.trpc.auth.signIn.mutate({ email, password });
  expect(proxied.lastSetCookie).toMatch(new RegExp(`^__Host-weir_session_${port}=.*; Secure$`));
});

test('two Weirs on one host do not sign out each other’s users', async () => {
  await using other = await openDashboard();
  const [here, there] = [await dashboard.addSpace(), await other.addSpace()];
  // Browsers ignore ports, so they send each Weir the cookies of both.
  const cookies = `${here.client.cookie}; ${there.client.cookie}`;
  here.client.cookie = cookies;
  there.client.cookie = cookies;
  expect((await here.client.trpc.me.query()).user.email).toBe(here.email);
  expect((await there.client.trpc.me.query()).user.email).toBe(there.email);
  const names = [here, there].map(({ client }) => client.lastSetCookie?.split('=')[0]);
  expect(new Set(names).size).toBe(2);
});

test('a wrong password and an unknown e-mail address get the same response and no cookie', async () => {
  const { email, password } = await dashboard.addSpace();
  const client = openClient(dashboard.url);
  const errors = await Promise.all(
    [
      { email, password: 'wrong' },
      { email: `not-${email}`, password },
    ].map((credentials) => client.trpc.auth.signIn.mutate(credentials).catch((error: unknown) => error)),
  );
  for (const error of errors) {
    expect(error).toMatchObject({
      message: 'The e-mail or the password is wrong.',
      ...code('UNAUTHORIZED'),
    });
  }
  expect(client.lastSetCookie).toBeUndefined();
});

test('after too many attempts even the right password is rejected, for that e-mail address only', async () => {
  const [victim, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const client = openClient(dashboard.url);
  for (let i = 0; i < signInAttemptsMax; i++) {
    await expect(
      client.trpc.auth.signIn.mutate({ email: victim.email, password: 'wrong' }),
    ).rejects.toMatchObject(code('UNAUTHORIZED'));
  }
  await expect(client.trpc.auth.signIn.mutate(victim)).rejects.toMatchObject(code('TOO_MANY_REQUESTS'));
  await client.trpc.auth.signIn.mutate(other);
});

test('each attempt is logged with its outcome, user and address, and without the e-mail address', async () => {
  const { email, password, client } = await dashboard.addSpace();
  const { user } = await client.trpc.me.query();
  await expect(client.trpc.auth.signIn.mutate({ email, password: 'wrong' })).rejects.toMatchObject(
    code('UNAUTHORIZED'),
  );
  await client.trpc.auth.signIn.mutate({ email, password });
  for (const outcome of ['rejected', 'signed_in']) {
    expect(dashboard.log()).toContain(
      `"outcome":"${outcome}","userId":"${user.id}","address":"127.0.0.1","msg":"sign-in"`,
    );
  }
  expect(dashboard.log()).not.toContain(email);
});

test('a successful sign-in does not count against the limit', async () => {
  const { email, password, client } = await dashboard.addSpace();
  for (let i = 0; i <= signInAttemptsMax; i++) await client.trpc.auth.signIn.mutate({ email, password });
});

test('signing out ends the session for every holder of its cookie', async () => {
  const { client } = await dashboard.addSpace();
  const copy = openClient(dashboard.url);
  copy.cookie = client.cookie;
  await copy.trpc.me.query();
  await client.trpc.auth.signOut.mutate();
  expect(client.lastSetCookie).toContain('Max-Age=0');
  await expect(copy.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await client.trpc.auth.signOut.mutate();
});

test('an expired session is rejected, and deleted at the next sign-in', async () => {
  const { email, password, client } = await dashboard.addSpace();
  const { user } = await client.trpc.me.query();
  await dashboard.sql`UPDATE sessions SET expires_at = now() WHERE user_id = ${user.id}`;
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await client.trpc.auth.signIn.mutate({ email, password });
  expect(await dashboard.sql`SELECT 1 FROM sessions WHERE user_id = ${user.id}`).toHaveLength(1);
});

test('a session that was not used for a week is rejected', async () => {
  const { client } = await dashboard.addSpace();
  const { user } = await client.trpc.me.query();
  const setLastUse = (days: number) =>
    dashboard.sql`UPDATE sessions SET last_used_at = now() - ${days} * interval '1 day' WHERE user_id = ${user.id}`;
  await setLastUse(6.9);
  await client.trpc.me.query();
  await setLastUse(7.1);
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
});

test('a new password ends the sessions opened with the old one', async () => {
  const { spaceId, email, password, client } = await dashboard.addSpace();
  await createOwner(dashboard.database, { email, password: 'another', spaceId });
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await expect(client.trpc.auth.signIn.mutate({ email, password })).rejects.toMatchObject(
    code('UNAUTHORIZED'),
  );
  await client.trpc.auth.signIn.mutate({ email, password: 'another' });
});

test('Postgres does not contain a token that would open a session', async () => {
  const { client } = await dashboard.addSpace();
  const token = client.cookie?.split('=')[1] ?? '';
  const rows = await dashboard.sql`SELECT encode(token_hash, 'escape') AS stored FROM sessions`;
  expect(rows.length).toBeGreaterThan(0);
  for (const { stored } of rows) expect(stored).not.toContain(token);
});

test.each([
  ['an origin of another site', { origin: 'http://evil.example' }],
  ['an origin on another port', { origin: 'http://127.0.0.1:1' }],
  ['an opaque origin', { origin: 'null' }],
  ['a request that the browser calls cross-site', { 'sec-fetch-site': 'cross-site' }],
])('%s may change nothing', async (_name, headers: Record<string, string>) => {
  const { client, email, password } = await dashboard.addSpace();
  const foreign: TestClient = openClient(dashboard.url, headers);
  foreign.cookie = client.cookie;
  await expect(foreign.trpc.auth.signOut.mutate()).rejects.toMatchObject(code('FORBIDDEN'));
  await expect(foreign.trpc.auth.signIn.mutate({ email, password })).rejects.toMatchObject(code('FORBIDDEN'));
  await client.trpc.me.query();
});

test('requests from the dashboard’s own origin may change data', async () => {
  const { email, password } = await dashboard.addSpace();
  const client = openClient(dashboard.url, { origin: dashboard.url, 'sec-fetch-site': 'same-origin' });
  await client.trpc.auth.signIn.mutate({ email, password });
});
