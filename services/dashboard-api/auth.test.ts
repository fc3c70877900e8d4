import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwner } from '../../lib/access/users.ts';
import { signInTriesMax } from '../../lib/limits.ts';
import {
  openClient,
  openDashboard,
  type TestClient,
  type TestDashboard,
} from '../../test/support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const code = (value: string) => ({ data: { code: value } });

test('the right password opens a session, whatever the capitals of the e-mail', async () => {
  const { spaceId, email, password } = await dashboard.addSpace();
  const client = openClient(dashboard.url);
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  const signedIn = await client.trpc.auth.signIn.mutate({ email: ` ${email.toUpperCase()}`, password });
  expect(signedIn).toMatchObject({ user: { email }, currentSpaceId: spaceId });
  expect(signedIn.spaces).toMatchObject([{ id: spaceId, role: 'owner' }]);
  expect(await client.trpc.me.query()).toEqual(signedIn);
});

test('the cookie is HttpOnly and SameSite=Lax, and Secure behind a proxy that ends TLS', async () => {
  const { email, password, client } = await dashboard.addSpace();
  expect(client.lastSetCookie).toMatch(
    /^weir_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const proxied = openClient(dashboard.url, { 'x-forwarded-proto': 'https' });
  await proxied.trpc.auth.signIn.mutate({ email, password });
  expect(proxied.lastSetCookie).toMatch(/; Secure$/);
});

test('a wrong password and an unknown e-mail get the same answer and no cookie', async () => {
  const { email, password } = await dashboard.addSpace();
  const client = openClient(dashboard.url);
  const refusals = await Promise.all(
    [
      { email, password: 'wrong' },
      { email: `not-${email}`, password },
    ].map((credentials) => client.trpc.auth.signIn.mutate(credentials).catch((error: unknown) => error)),
  );
  for (const refusal of refusals) {
    expect(refusal).toMatchObject({
      message: 'The e-mail or the password is wrong.',
      ...code('UNAUTHORIZED'),
    });
  }
  expect(client.lastSetCookie).toBeUndefined();
});

test('after too many tries even the right password is refused, for that e-mail only', async () => {
  const [victim, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const client = openClient(dashboard.url);
  for (let i = 0; i < signInTriesMax; i++) {
    await expect(
      client.trpc.auth.signIn.mutate({ email: victim.email, password: 'wrong' }),
    ).rejects.toMatchObject(code('UNAUTHORIZED'));
  }
  await expect(client.trpc.auth.signIn.mutate(victim)).rejects.toMatchObject(code('TOO_MANY_REQUESTS'));
  await client.trpc.auth.signIn.mutate(other);
});

test('a sign-in that succeeds is no try against the limit', async () => {
  const { email, password, client } = await dashboard.addSpace();
  for (let i = 0; i <= signInTriesMax; i++) await client.trpc.auth.signIn.mutate({ email, password });
});

test('signing out ends the session for whoever holds its cookie', async () => {
  const { client } = await dashboard.addSpace();
  const copy = openClient(dashboard.url);
  copy.cookie = client.cookie;
  await copy.trpc.me.query();
  await client.trpc.auth.signOut.mutate();
  expect(client.lastSetCookie).toContain('Max-Age=0');
  await expect(copy.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await client.trpc.auth.signOut.mutate();
});

test('an expired session is refused, and leaves with the next sign-in', async () => {
  const { email, password, client } = await dashboard.addSpace();
  const { user } = await client.trpc.me.query();
  await dashboard.sql`UPDATE sessions SET expires_at = now() WHERE user_id = ${user.id}`;
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await client.trpc.auth.signIn.mutate({ email, password });
  expect(await dashboard.sql`SELECT 1 FROM sessions WHERE user_id = ${user.id}`).toHaveLength(1);
});

test('a new password ends the sessions that the old one opened', async () => {
  const { spaceId, email, password, client } = await dashboard.addSpace();
  await createOwner(dashboard.database, { email, password: 'another', spaceId });
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await expect(client.trpc.auth.signIn.mutate({ email, password })).rejects.toMatchObject(
    code('UNAUTHORIZED'),
  );
  await client.trpc.auth.signIn.mutate({ email, password: 'another' });
});

test('Postgres holds no token that would open a session', async () => {
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

test('the own origin may change things', async () => {
  const { email, password } = await dashboard.addSpace();
  const client = openClient(dashboard.url, { origin: dashboard.url, 'sec-fetch-site': 'same-origin' });
  await client.trpc.auth.signIn.mutate({ email, password });
});
