import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSignInLink } from '../../../store/accounts/sign-in-links.ts';
import {
  openClient,
  openDashboard,
  type TestClient,
  type TestDashboard,
} from '../../../test/support/dashboard.ts';
import { addApp } from '../../../test/support/protocols/second-factor/second-factor-changes.ts';
import { startOnFreePort } from '../../../test/support/service.ts';
import {
  type OpenIdProvider,
  openOpenIdProvider,
  type Person,
  RedirectBrowser,
  signInAtProvider,
} from '../../../test/support/tools/openid-provider.ts';
import { ssoSessionTtlMs, tokenAttemptsMax } from '../accounts/limits.ts';
import { callbackPath } from './provider.ts';

let dashboard: TestDashboard;
let provider: OpenIdProvider;
beforeAll(async () => {
  await startOnFreePort(async (port) => {
    const publicUrl = `http://127.0.0.1:${port}`;
    provider = await openOpenIdProvider(`${publicUrl}${callbackPath}`);
    dashboard = await openDashboard({
      variables: {
        DASHBOARD_PORT: String(port),
        DASHBOARD_PUBLIC_URL: publicUrl,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.clientId,
        OIDC_CLIENT_SECRET: provider.clientSecret,
        OIDC_NAME: 'Example',
        OIDC_ALLOWED_DOMAINS: 'allowed.example',
      },
    });
  });
});
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const code = (value: string) => ({ data: { code: value } });
const start = (to = '/') => `${dashboard.url}/auth/sso/start?to=${encodeURIComponent(to)}`;
/** The pages are not served here, so the browser stops at the first of them. */
const isFollowed = (url: URL) =>
  url.host !== new URL(dashboard.url).host || url.pathname.startsWith('/auth/');

async function signIn(name: string, to?: string) {
  const browser = new RedirectBrowser();
  const url = await signInAtProvider(browser, start(to), { name, isFollowed });
  const client: TestClient = openClient(dashboard.url);
  client.cookie = Array.from(browser.cookies, ([key, value]) => `${key}=${value}`).join('; ');
  return { url, client, browser };
}

/** A new user name at the provider. */
function addPerson(person: Person): string {
  const name = randomUUID();
  provider.people.set(name, person);
  return name;
}

test('the sign-in page gets the name of the provider', async () => {
  expect(await openClient(dashboard.url).trpc.auth.methods.query()).toEqual({
    password: true,
    passkey: false,
    sso: { name: 'Example', path: '/auth/sso/start' },
  });
});

test('a user with the verified address is linked, and afterwards found by the identity alone', async () => {
  const { email, password, client, spaceId } = await dashboard.addSpace();
  await addApp(client);
  const name = addPerson({ email: email.toUpperCase(), email_verified: true });
  const first = await signIn(name, '/s/x/events?name=a');
  expect(first.url.href).toBe(`${dashboard.url}/s/x/events?name=a`);
  expect(await first.client.trpc.me.query()).toMatchObject({
    user: { email, hasPassword: false, secondFactors: { totp: false, passkey: false } },
    currentSpaceId: spaceId,
  });
  // The person who set the password may not own the address.
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await expect(openClient(dashboard.url).trpc.auth.signIn.mutate({ email, password })).rejects.toMatchObject(
    code('UNAUTHORIZED'),
  );
  provider.people.set(name, {});
  const second = await signIn(name);
  expect((await second.client.trpc.me.query()).user.email).toBe(email);
  await first.client.trpc.me.query();
  const { rows } = await second.client.trpc.audit.list.query();
  expect(rows.slice(0, 3).map(({ action }) => action)).toEqual(['session.open', 'session.open', 'user.link']);
});

test('a new authentication opens a session with its time and ends the previous session', async () => {
  const { email } = await dashboard.addSpace();
  const name = addPerson({ email, email_verified: true });
  const { browser } = await signIn(name);
  const readSessions = () => dashboard.sql`
    SELECT authenticated_at, sessions.created_at FROM sessions JOIN users ON users.id = user_id WHERE email = ${email}`;
  const [first] = await readSessions();
  // Without max_age this provider does not report when the person authenticated.
  expect(first?.authenticated_at).toEqual(first?.created_at);
  const again = `${start('/s/x/members')}&again=1`;
  const asked = await browser.open(again, { isFollowed });
  expect(asked.url.pathname).toMatch(/^\/interaction\//);
  await asked.response.text();
  const url = await signInAtProvider(browser, again, { name, isFollowed });
  expect(url.pathname).toBe('/s/x/members');
  const renewed = await readSessions();
  expect(renewed).toHaveLength(1);
  expect(renewed).not.toEqual([first]);
  // The provider's time is in whole seconds.
  expect(renewed[0]?.authenticated_at.getMilliseconds()).toBe(0);

  // If the request is changed so that the provider does not ask, the session gets the time of the earlier
  // authentication.
  const { url: sent } = await browser.open(again, { isFollowed: () => false });
  sent.searchParams.delete('prompt');
  sent.searchParams.set('max_age', '100000');
  expect((await browser.open(sent.href, { isFollowed })).url.pathname).toBe('/s/x/members');
  const [last] = await readSessions();
  expect(last?.created_at).not.toEqual(renewed[0]?.created_at);
  expect(last?.authenticated_at).toEqual(renewed[0]?.authenticated_at);
});

test('an address that the provider later gives to another person does not give access to the user', async () => {
  const { email } = await dashboard.addSpace();
  await signIn(addPerson({ email, email_verified: true }));
  const { url, client } = await signIn(addPerson({ email, email_verified: true }));
  expect(url.pathname + url.search).toBe('/sign-in?sso=rejected');
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
});

test('callbacks of a browser without a sign-in flow do not count as attempts of its network', async () => {
  const { email } = await dashboard.addSpace();
  for (let times = 0; times <= tokenAttemptsMax; times++) {
    const answer = await fetch(`${dashboard.url}${callbackPath}?code=x&state=x`, { redirect: 'manual' });
    expect(answer.headers.get('location')).toBe('/sign-in?sso=failed');
  }
  const { client } = await signIn(addPerson({ email, email_verified: true }));
  await client.trpc.me.query();
});

test.each<[string, (email: string) => Person]>([
  ['an address that is not verified', (email) => ({ email, email_verified: false })],
  ['an address without email_verified', (email) => ({ email })],
  ['no address', () => ({})],
  ['an address of no user', () => ({ email: 'stranger@example.org', email_verified: true })],
  [
    'a domain that only ends like an allowed one',
    () => ({ email: 'a@notallowed.example', email_verified: true }),
  ],
])('%s is rejected, and changes no user', async (_name, describe) => {
  const { email, client } = await dashboard.addSpace();
  const users = await dashboard.sql`SELECT * FROM users ORDER BY id`;
  const { url } = await signIn(addPerson(describe(email)));
  expect(url.pathname + url.search).toBe('/sign-in?sso=rejected');
  expect(await dashboard.sql`SELECT * FROM users ORDER BY id`).toEqual(users);
  await client.trpc.me.query();
});

test('a person of an allowed domain gets an account without a space', async () => {
  const email = 'new@allowed.example';
  const { client } = await signIn(addPerson({ email, email_verified: true }));
  expect(await client.trpc.me.query()).toMatchObject({ user: { email, hasPassword: false }, spaces: [] });
  await expect(
    client.trpc.auth.changePassword.mutate({ currentPassword: 'x', newPassword: 'a password' }),
  ).rejects.toMatchObject(code('PRECONDITION_FAILED'));
});

test('a person with an invitation gets an account, and can accept the invitation', async () => {
  const space = await dashboard.addSpace();
  const email = 'invited@example.org';
  const { token } = await space.client.trpc.invitations.create.mutate({ email, role: 'member' });
  const { client } = await signIn(addPerson({ email, email_verified: true }));
  expect(await client.trpc.invitations.accept.mutate({ token })).toEqual({ spaceId: space.spaceId });
  expect((await client.trpc.me.query()).spaces).toMatchObject([{ id: space.spaceId, role: 'member' }]);
});

/** Signs in at the provider. @returns the URL of the callback, which is not requested yet. */
async function reachCallback() {
  const { email } = await dashboard.addSpace();
  const browser = new RedirectBrowser();
  const url = await signInAtProvider(browser, start(), {
    name: addPerson({ email, email_verified: true }),
    isFollowed: (next) => isFollowed(next) && next.pathname !== callbackPath,
  });
  expect(url.pathname).toBe(callbackPath);
  return { browser, url };
}

test('a code is accepted only from the browser that began the flow, with its state, and once', async () => {
  const { browser, url } = await reachCallback();
  const failed = '/sign-in?sso=failed';
  const finish = async (one: RedirectBrowser, target: URL) => {
    const { url: end } = await one.open(target.href, { isFollowed });
    return end.pathname + end.search;
  };
  // A victim who follows a link with the attacker's code, also during a sign-in of their own.
  expect(await finish(new RedirectBrowser(), url)).toBe(failed);
  const victim = new RedirectBrowser();
  await victim.open(start(), { isFollowed: () => false });
  expect(await finish(victim, url)).toBe(failed);
  const otherState = new URL(url);
  otherState.searchParams.set('state', 'x');
  const kept = new Map(browser.cookies);
  expect(await finish(browser, otherState)).toBe(failed);
  for (const [name, value] of kept) browser.cookies.set(name, value);
  expect(await finish(browser, url)).toBe('/');
  for (const [name, value] of kept) browser.cookies.set(name, value);
  expect(await finish(browser, url)).toBe(failed);
  // No log contains the code or the secrets of the flow.
  expect(dashboard.log()).not.toContain(url.searchParams.get('code'));
});

test('the request has PKCE, state and nonce, and its cookie is HttpOnly', async () => {
  const response = await fetch(start(), { redirect: 'manual' });
  const { searchParams } = new URL(response.headers.get('location') ?? '');
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    scope: 'openid email',
    state: expect.stringMatching(/.{40}/),
    nonce: expect.stringMatching(/.{40}/),
  });
  expect(response.headers.get('set-cookie')).toMatch(
    /^weir_sso_\d+=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
  );
});

test.each([
  'https://evil.example/',
  '//evil.example',
  '/.//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'javascript:alert(1)',
])('the sign-in leads to no other site: %j', async (to) => {
  const { email } = await dashboard.addSpace();
  const { url } = await signIn(addPerson({ email, email_verified: true }), to);
  expect(url.href).toBe(`${dashboard.url}/`);
});

test('without a configuration there is no single sign-on', async () => {
  await using plain = await openDashboard();
  expect((await openClient(plain.url).trpc.auth.methods.query()).sso).toBeNull();
  expect((await fetch(`${plain.url}/auth/sso/start`)).status).toBe(404);
});

test('an unreachable provider redirects back to the sign-in page', async () => {
  await using away = await openDashboard({
    variables: {
      DASHBOARD_PUBLIC_URL: 'http://127.0.0.1:1',
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_CLIENT_ID: 'weir',
      OIDC_CLIENT_SECRET: 'x',
    },
  });
  const response = await fetch(`${away.url}/auth/sso/start`, { redirect: 'manual' });
  expect(response.headers.get('location')).toBe('/sign-in?sso=unavailable');
});

test('with SSO_REQUIRED passwords neither sign in nor accept invitations, and sessions are short', async () => {
  await using strict = await openDashboard({
    databaseUrl: dashboard.databaseUrl,
    variables: {
      SSO_REQUIRED: 'true',
      DASHBOARD_PUBLIC_URL: 'http://127.0.0.1:1',
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_CLIENT_ID: 'weir',
      OIDC_CLIENT_SECRET: 'x',
    },
  });
  const { client, email, password } = await dashboard.addSpace();
  const { trpc } = openClient(strict.url);
  expect(await trpc.auth.methods.query()).toMatchObject({ password: false });
  const { token } = await client.trpc.invitations.create.mutate({ email: 'p@example.org', role: 'viewer' });
  await addApp(client);
  const refused = [
    () => trpc.auth.signIn.mutate({ email, password }),
    () => trpc.auth.askPasskey.query(),
    () => trpc.invitations.accept.mutate({ token, password: 'my password' }),
  ];
  for (const call of refused) await expect(call()).rejects.toMatchObject(code('FORBIDDEN'));
  // The operator's link asks for no second factor either: with single sign-on that is the provider's matter.
  const { user } = await client.trpc.me.query();
  const link = await createSignInLink(dashboard.database, user.id, strict.url);
  expect(await trpc.auth.redeemLink.mutate({ token: link.split('link=')[1] ?? '' })).toMatchObject({ user });
  const { client: person } = await signIn(addPerson({ email, email_verified: true }));
  const [session] = await person.trpc.sessions.list.query();
  const lastsMs = Date.parse(session?.expiresAt ?? '') - Date.parse(session?.createdAt ?? '');
  expect(lastsMs).toBe(ssoSessionTtlMs);
});
