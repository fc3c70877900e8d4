import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSignInLink } from '../../../../store/accounts/sign-in-links.ts';
import { openClient, openDashboard, type TestDashboard } from '../../../../test/support/dashboard.ts';
import { signInAttemptsMax, tokenAttemptsMax } from '../../accounts/limits.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const code = (value: string) => ({ data: { code: value } });

/** A user with two sessions. */
async function signInTwice() {
  const user = await dashboard.addSpace();
  const second = openClient(dashboard.url, { 'user-agent': 'Second/1.0' });
  await second.trpc.auth.signIn.mutate(user);
  return { ...user, second };
}

test('sessions are listed with browser, address and last use, and each can be ended', async () => {
  const { client, second } = await signInTwice();
  const listed = await client.trpc.sessions.list.query();
  expect(listed).toHaveLength(2);
  expect(listed.filter(({ isCurrent }) => isCurrent)).toHaveLength(1);
  const other = listed.find(({ isCurrent }) => !isCurrent);
  expect(other).toMatchObject({ userAgent: 'Second/1.0', address: '127.0.0.1' });
  expect(JSON.stringify(listed)).not.toContain(second.cookie?.split('=')[1]);
  await client.trpc.sessions.revoke.mutate({ id: other?.id ?? '' });
  await expect(second.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await expect(client.trpc.sessions.revoke.mutate({ id: other?.id ?? '' })).rejects.toMatchObject(
    code('NOT_FOUND'),
  );
  await client.trpc.me.query();
});

test("a user cannot end another user's session", async () => {
  const [own, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const [session] = await other.client.trpc.sessions.list.query();
  await expect(own.client.trpc.sessions.revoke.mutate({ id: session?.id ?? '' })).rejects.toMatchObject(
    code('NOT_FOUND'),
  );
  await other.client.trpc.me.query();
});

test('the last use is updated when it is older than a minute', async () => {
  const { client } = await dashboard.addSpace();
  const { user } = await client.trpc.me.query();
  await dashboard.sql`UPDATE sessions SET last_used_at = now() - interval '1 hour' WHERE user_id = ${user.id}`;
  await client.trpc.me.query();
  const [session] = await client.trpc.sessions.list.query();
  expect(Date.now() - Date.parse(session?.lastUsedAt ?? '')).toBeLessThan(60_000);
});

test('revoking the other sessions keeps the current one', async () => {
  const { client, second } = await signInTwice();
  expect(await client.trpc.sessions.revokeOthers.mutate()).toEqual({ revoked: 1 });
  await expect(second.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await client.trpc.me.query();
});

test('a new password ends the other sessions, and only it can sign in', async () => {
  const { client, second, email, password } = await signInTwice();
  await client.trpc.auth.changePassword.mutate({
    currentPassword: password,
    newPassword: 'a new password',
  });
  await expect(second.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await client.trpc.me.query();
  await expect(second.trpc.auth.signIn.mutate({ email, password })).rejects.toMatchObject(
    code('UNAUTHORIZED'),
  );
  await second.trpc.auth.signIn.mutate({ email, password: 'a new password' });
});

test('of two concurrent changes with the same current password one succeeds', async () => {
  const { client, email, password } = await dashboard.addSpace();
  const [one, two] = ['first password', 'second password'].map((newPassword) =>
    client.trpc.auth.changePassword.mutate({ currentPassword: password, newPassword }),
  );
  const outcomes = await Promise.allSettled([one, two]);
  const winners = outcomes.filter(({ status }) => status === 'fulfilled');
  expect(winners).toHaveLength(1);
  const isFirst = outcomes[0]?.status === 'fulfilled';
  const loser = isFirst ? 'second password' : 'first password';
  const other = openClient(dashboard.url);
  await expect(other.trpc.auth.signIn.mutate({ email, password: loser })).rejects.toMatchObject(
    code('UNAUTHORIZED'),
  );
});

test('guesses of the current password are limited', async () => {
  const { client, password } = await dashboard.addSpace();
  const change = (currentPassword: string) =>
    client.trpc.auth.changePassword.mutate({ currentPassword, newPassword: 'a new password' });
  for (let i = 0; i < signInAttemptsMax; i++) {
    await expect(change('wrong')).rejects.toMatchObject(code('FORBIDDEN'));
  }
  await expect(change(password)).rejects.toMatchObject(code('TOO_MANY_REQUESTS'));
});

test('a sign-in link opens one session, even when it is used concurrently', async () => {
  const { client } = await dashboard.addSpace();
  const { user } = await client.trpc.me.query();
  const link = await createSignInLink(dashboard.database, user.id, dashboard.url);
  const [, token = ''] = link.split('#link=');
  expect(new URL(link).search).toBe('');
  const clients = Array.from({ length: 6 }, () => openClient(dashboard.url));
  const outcomes = await Promise.allSettled(
    clients.map(({ trpc }) => trpc.auth.redeemLink.mutate({ token })),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const winner = clients[outcomes.findIndex(({ status }) => status === 'fulfilled')];
  expect((await winner?.trpc.me.query())?.user.id).toBe(user.id);
  expect(dashboard.log()).not.toContain(token);
});

test('an expired sign-in link is rejected', async () => {
  const { client } = await dashboard.addSpace();
  const { user } = await client.trpc.me.query();
  const [, token = ''] = (await createSignInLink(dashboard.database, user.id, '')).split('#link=');
  await dashboard.sql`UPDATE sign_in_links SET expires_at = now() WHERE user_id = ${user.id}`;
  const { trpc } = openClient(dashboard.url);
  await expect(trpc.auth.redeemLink.mutate({ token })).rejects.toMatchObject(code('UNAUTHORIZED'));
});

test('wrong tokens are limited by network address, for links and for invitations', async () => {
  await using own = await openDashboard();
  const { client } = await own.addSpace();
  const created = await client.trpc.invitations.create.mutate({ email: 'a@example.org', role: 'viewer' });
  const { trpc } = openClient(own.url);
  const wrong = { token: 'A'.repeat(43) };
  for (let i = 0; i < tokenAttemptsMax; i += 2) {
    // A valid one does not count.
    await trpc.invitations.look.mutate(created);
    await expect(trpc.invitations.look.mutate(wrong)).rejects.toMatchObject(code('NOT_FOUND'));
    await expect(trpc.auth.redeemLink.mutate(wrong)).rejects.toMatchObject(code('UNAUTHORIZED'));
  }
  const calls = [
    () => trpc.invitations.look.mutate(created),
    () => trpc.invitations.accept.mutate({ ...created, password: 'a password' }),
    () => trpc.auth.redeemLink.mutate(wrong),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject(code('TOO_MANY_REQUESTS'));
});
