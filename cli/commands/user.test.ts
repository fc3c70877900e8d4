import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditLog } from '../../store/db/schema.ts';
import { runWeir, runWeirProcess } from '../../test/support/cli/command-line.ts';
import { unknownId } from '../../test/support/cli/operator.ts';
import {
  openClient,
  openDashboard,
  type TestClient,
  type TestDashboard,
} from '../../test/support/dashboard.ts';
import {
  addApp,
  addPasskey,
  answerPasskey,
} from '../../test/support/protocols/second-factor/second-factor-changes.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

let users = 0;
const newEmail = () => `user-${++users}@example.org`;

const run = (args: string[], stdin = '') =>
  runWeir(['user', ...args], { DATABASE_URL: dashboard.databaseUrl }, { stdin });

/** Runs a command that must succeed, and returns the JSON that it printed. */
async function user(args: string[], stdin = '') {
  const { exitCode, stdout, stderr } = await run(args, stdin);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function signIn(email: string, password: string): Promise<TestClient> {
  const client = openClient(dashboard.url);
  await client.trpc.auth.signIn.mutate({ email, password });
  return client;
}

const unauthorized = { data: { code: 'UNAUTHORIZED' } };

async function readAudit(spaceId: string) {
  const { action, actor, details } = auditLog;
  return dashboard.database
    .select({ action, actor, details })
    .from(auditLog)
    .where(eq(auditLog.spaceId, spaceId))
    .orderBy(auditLog.id);
}

test('a created user signs in with the password that was shown once, and has the given roles', async () => {
  const [first, second] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const email = newEmail();
  const spaces = ['--space', first.spaceId, '--role', 'admin', '--space', second.spaceId.toUpperCase()];
  const created = await user(['create', '--email', ` ${email.toUpperCase()}`, ...spaces]);
  expect(created).toEqual({
    userId: expect.any(String),
    email,
    password: expect.stringMatching(/^[\w-]{16}$/),
    spaces: [
      { spaceId: first.spaceId, role: 'admin' },
      { spaceId: second.spaceId, role: 'viewer' },
    ],
  });
  const { trpc } = await signIn(email, created.password);
  expect((await trpc.me.query()).spaces).toMatchObject([
    { id: first.spaceId, role: 'admin' },
    { id: second.spaceId, role: 'viewer' },
  ]);
  expect((await readAudit(second.spaceId)).slice(-2)).toEqual([
    { action: 'member.set', actor: 'operator', details: { userId: created.userId, role: 'viewer' } },
    { action: 'session.open', actor: created.userId, details: { method: 'password' } },
  ]);
});

test('a password from stdin is not printed', async () => {
  const email = newEmail();
  const { exitCode, stdout, stderr } = await runWeirProcess(
    ['user', 'create', '--email', email, '--password-stdin'],
    { DATABASE_URL: dashboard.databaseUrl },
    { stdin: 'correct horse\nignored\n' },
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(Object.keys(JSON.parse(stdout))).toEqual(['userId', 'email', 'spaces']);
  await signIn(email, 'correct horse');
});

test.each(['', 'short', 'x'.repeat(1_025)])(
  'a password of a wrong length is rejected: %#',
  async (password) => {
    const email = newEmail();
    const { exitCode, stdout, stderr } = await run(
      ['create', '--email', email, '--password-stdin'],
      password,
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toBe('weir: A password must have 8 to 1024 characters.\n');
    expect((await user(['list'])).map((one: { email: string }) => one.email)).not.toContain(email);
  },
);

test('a second user with the same e-mail address is rejected, and the first one stays as it was', async () => {
  const { email, password } = await dashboard.addSpace();
  const { exitCode, stderr } = await run(['create', '--email', email.toUpperCase()]);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: `weir: The user ${email} already exists.\n`,
  });
  await signIn(email, password);
});

test('a user whose space does not exist is not created', async () => {
  const email = newEmail();
  const { exitCode } = await run(['create', '--email', email, '--space', unknownId]);
  expect(exitCode).toBe(1);
  expect((await user(['list'])).map((one: { email: string }) => one.email)).not.toContain(email);
});

test('a new password replaces the old one, ends the sessions of the user, and is audited', async () => {
  const { spaceId, email, password, client } = await dashboard.addSpace();
  const other = await dashboard.addSpace();
  const changed = await user(['password', '--email', email]);
  await expect(client.trpc.me.query()).rejects.toMatchObject(unauthorized);
  await expect(signIn(email, password)).rejects.toMatchObject(unauthorized);
  await signIn(email, changed.password);
  await other.client.trpc.me.query();
  await user(['password', '--email', email, '--password-stdin'], 'another one\n');
  await signIn(email, 'another one');
  const audit = await readAudit(spaceId);
  expect(audit.filter(({ action }) => action === 'user.password')).toHaveLength(2);
  expect(JSON.stringify(audit)).not.toMatch(`${changed.password}|another one`);
});

test('a role is set, changed and removed, including for running sessions', async () => {
  const { spaceId } = await dashboard.addSpace();
  const { email, client } = await dashboard.addSpace();
  const rolesSeen = async () =>
    (await client.trpc.me.query()).spaces.filter(({ id }) => id === spaceId).map(({ role }) => role);
  for (const role of ['member', 'owner']) {
    const set = await user(['role', '--email', email, '--space', spaceId, '--role', role]);
    expect(set).toMatchObject({ email, spaceId, role });
    expect(await rolesSeen()).toEqual([role]);
  }
  for (let times = 0; times < 2; times++) {
    expect(await user(['role', '--email', email, '--space', spaceId, '--role', 'none'])).toMatchObject({
      role: null,
    });
    expect(await rolesSeen()).toEqual([]);
  }
  const actions = (await readAudit(spaceId)).map(({ action }) => action);
  expect(actions.slice(-3)).toEqual(['member.set', 'member.set', 'member.remove']);
});

test('the list shows every user with the spaces of each, and no hash', async () => {
  const { spaceId, email } = await dashboard.addSpace({ role: 'viewer' });
  const alone = newEmail();
  await user(['create', '--email', alone]);
  const listed: { email: string }[] = await user(['list']);
  const shown = {
    userId: expect.any(String),
    createdAt: expect.stringMatching(/Z$/),
    disabledAt: null,
    operatorSince: null,
  };
  const secondFactors = { totp: false, passkey: false };
  const verified = { emailVerifiedAt: expect.stringMatching(/Z$/), secondFactors };
  const spaces = [{ spaceId, name: expect.any(String), role: 'viewer' }];
  expect(listed).toContainEqual({ ...shown, ...verified, email, spaces });
  expect(listed).toContainEqual({ ...shown, ...verified, email: alone, spaces: [] });
  expect(JSON.stringify(listed)).not.toContain('argon2');
});

test('a link signs its user in, once', async () => {
  const email = newEmail();
  await user(['create', '--email', email]);
  const { link } = await user(['link', '--email', email, '--url', `${dashboard.url}/`]);
  const [address, token] = link.split('#link=');
  expect(address).toBe(`${dashboard.url}/sign-in`);
  const client = openClient(dashboard.url);
  expect(await client.trpc.auth.redeemLink.mutate({ token })).toMatchObject({ user: { email } });
  expect(await client.trpc.me.query()).toMatchObject({ user: { email } });
  await expect(openClient(dashboard.url).trpc.auth.redeemLink.mutate({ token })).rejects.toMatchObject(
    unauthorized,
  );
});

test('a link for an unknown user, or without an address, fails with one sentence', async () => {
  const unknown = await run(['link', '--email', newEmail(), '--url', dashboard.url]);
  expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('There is no user') });
  const nowhere = await run(['link', '--email', newEmail()]);
  expect(nowhere).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--url') });
});

test('a new password ends the sign-in links of the user, regardless of who sets it', async () => {
  const { email, password, client } = await dashboard.addSpace();
  const newLink = async () => {
    const { link } = await user(['link', '--email', email, '--url', 'http://x']);
    return { token: link.split('#link=')[1] };
  };
  const redeem = (token: { token: string }) => openClient(dashboard.url).trpc.auth.redeemLink.mutate(token);
  await redeem(await newLink());
  const first = await newLink();
  await client.trpc.auth.changePassword.mutate({ currentPassword: password, newPassword: 'my new one' });
  await expect(redeem(first)).rejects.toMatchObject(unauthorized);
  const second = await newLink();
  await user(['password', '--email', email]);
  await expect(redeem(second)).rejects.toMatchObject(unauthorized);
});

test('a disabled user is signed out, cannot sign in by any way, and keeps the spaces when enabled again', async () => {
  const { spaceId, email, password, client } = await dashboard.addSpace();
  const { link } = await user(['link', '--email', email, '--url', 'http://x']);
  const guest = await client.trpc.invitations.create.mutate({ email: 'guest@example.org', role: 'owner' });
  await user(['disable', '--email', email]);
  const stranger = openClient(dashboard.url).trpc;
  const refused = [
    () => client.trpc.me.query(),
    () => stranger.auth.signIn.mutate({ email, password }),
    () => stranger.auth.redeemLink.mutate({ token: link.split('#link=')[1] }),
  ];
  for (const call of refused) await expect(call()).rejects.toMatchObject(unauthorized);
  await expect(stranger.invitations.look.mutate({ token: guest.token })).rejects.toMatchObject({
    data: { code: 'NOT_FOUND' },
  });
  const listed: { email: string; disabledAt: string | null }[] = await user(['list']);
  expect(listed.find((one) => one.email === email)?.disabledAt).toMatch(/Z$/);
  // A link created while the user is disabled does not sign in.
  const late = await user(['link', '--email', email, '--url', 'http://x']);
  await expect(
    stranger.auth.redeemLink.mutate({ token: late.link.split('#link=')[1] }),
  ).rejects.toMatchObject(unauthorized);
  await user(['enable', '--email', email]);
  await client.trpc.auth.signIn.mutate({ email, password });
  expect((await client.trpc.me.query()).spaces).toMatchObject([{ id: spaceId, role: 'owner' }]);
});

test('commands warn about an account created by accepting an invitation, and reclaim returns it to the owner of the address', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const email = newEmail();
  const { token } = await client.trpc.invitations.create.mutate({ email, role: 'admin' });
  const impostor = openClient(dashboard.url);
  await impostor.trpc.invitations.accept.mutate({ token, password: 'of the impostor' });
  const guest = await impostor.trpc.invitations.create.mutate({ email: newEmail(), role: 'viewer' });
  const url = ['--url', dashboard.url];
  const warned = await run(['link', '--email', email, ...url]);
  expect(warned).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining(`user reclaim --email ${email}`),
  });
  const passkey = await addPasskey(impostor);
  const { link, password } = await user(['reclaim', '--email', email, ...url]);
  await expect(impostor.trpc.me.query()).rejects.toMatchObject(unauthorized);
  const stranger = openClient(dashboard.url).trpc;
  await expect(stranger.auth.signIn.mutate({ email, password: 'of the impostor' })).rejects.toMatchObject(
    unauthorized,
  );
  const answer = await answerPasskey({ trpc: stranger }, passkey);
  await expect(stranger.auth.signInWithPasskey.mutate(answer)).rejects.toMatchObject(unauthorized);
  await expect(stranger.invitations.look.mutate({ token: guest.token })).rejects.toMatchObject({
    data: { code: 'NOT_FOUND' },
  });
  const { trpc } = openClient(dashboard.url);
  await trpc.auth.redeemLink.mutate({ token: link.split('#link=')[1] });
  expect((await trpc.me.query()).spaces).toMatchObject([{ id: spaceId, role: 'admin' }]);
  await trpc.auth.changePassword.mutate({ currentPassword: password, newPassword: 'of the person' });
  expect((await run(['link', '--email', email, ...url])).stderr).toBe('');
});

test('reset-second-factor lets a user who lost the telephone sign in with the password alone', async () => {
  const { spaceId, email, password, client } = await dashboard.addSpace();
  await addApp(client);
  const passkey = await addPasskey(client);
  await client.trpc.secondFactor.renewRecoveryCodes.mutate();
  const listed = async () => (await user(['list'])).find((one: { email: string }) => one.email === email);
  expect(await listed()).toMatchObject({ secondFactors: { totp: true, passkey: true } });
  const { userId } = await user(['reset-second-factor', '--email', email]);
  expect(await listed()).toMatchObject({ userId, secondFactors: { totp: false, passkey: false } });
  await expect(client.trpc.me.query()).rejects.toMatchObject(unauthorized);
  const { trpc } = openClient(dashboard.url);
  const answer = await answerPasskey({ trpc }, passkey);
  await expect(trpc.auth.signInWithPasskey.mutate(answer)).rejects.toMatchObject(unauthorized);
  expect(await trpc.auth.signIn.mutate({ email, password })).toMatchObject({ user: { email } });
  expect(await trpc.secondFactor.list.query()).toEqual({ totp: null, passkeys: [], recoveryCodesLeft: 0 });
  const actions = (await readAudit(spaceId)).map(({ action, actor }) => [action, actor]);
  expect(actions).toContainEqual(['user.reset_second_factor', 'operator']);
});

test('user operator makes a user an operator of the installation, ends the sessions of the user, and --revoke undoes it', async () => {
  const { email, userId } = await user(['create', '--email', 'operator@example.org']);
  const since = async () =>
    (await user(['list'])).find((one: { email: string }) => one.email === email).operatorSince;
  expect(await user(['operator', '--email', email])).toEqual({ userId, email, isOperator: true });
  expect(await since()).toMatch(/Z$/);
  expect(await user(['operator', '--email', email, '--revoke'])).toEqual({
    userId,
    email,
    isOperator: false,
  });
  expect(await since()).toBe(null);
});
