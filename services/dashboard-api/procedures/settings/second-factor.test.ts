import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { altered } from '../../../../harness/fixtures/altered.ts';
import { createSignInLink } from '../../../../store/accounts/sign-in-links.ts';
import { setDisabled } from '../../../../store/accounts/users.ts';
import {
  dashboardPepper,
  openClient,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../../test/support/dashboard.ts';
import { Authenticator } from '../../../../test/support/protocols/second-factor/authenticator.ts';
import {
  addApp,
  addPasskey,
  answerPasskey,
} from '../../../../test/support/protocols/second-factor/second-factor-changes.ts';
import { SecondStep } from '../../accounts/second-step.ts';
import { openSessions } from '../../accounts/session.ts';
import { openSeal } from '../../seal.ts';
import { codeAttemptsMax } from '../../second-factor/limits.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const code = (value: string) => ({ data: { code: value } });

/**
 * The next time step of an app: its codes are accepted one step early, and later than the code of the
 * enrolment.
 */
const nextStep = () => Date.now() + 30_000;

/** Gives the password in a browser of its own. */
async function beginSignIn({ email, password }: TestSpace, url = dashboard.url) {
  const client = openClient(url);
  const outcome = await client.trpc.auth.signIn.mutate({ email, password });
  return { client, outcome };
}

async function lastActions({ client, spaceId }: TestSpace, count: number) {
  const { rows } = await client.trpc.audit.list.query({ spaceId });
  return rows.slice(0, count).map(({ action, details }) => [action, details]);
}

test('with an app, the password alone opens no session, and a code does', async () => {
  const space = await dashboard.addSpace();
  const app = await addApp(space.client);
  const { client, outcome } = await beginSignIn(space);
  expect(outcome).toEqual({ secondFactors: { totp: true, passkey: false } });
  expect(client.lastSetCookie).toMatch(
    /^weir_step_\d+=[\w-]+; Max-Age=300; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await expect(client.trpc.auth.giveCode.mutate({ code: '000000' })).rejects.toMatchObject(code('FORBIDDEN'));
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  const me = await client.trpc.auth.giveCode.mutate({
    code: ` ${app.code(nextStep()).replace(/^.../, '$& ')}`,
  });
  expect(await client.trpc.me.query()).toEqual(me);
  expect(me.user.secondFactors).toEqual({ totp: true, passkey: false });
  expect(await lastActions(space, 2)).toEqual([
    ['session.open', { method: 'password', secondFactor: 'totp' }],
    ['totp.add', {}],
  ]);
});

test('a code is accepted once, also by concurrent calls, and not after its time', async () => {
  const space = await dashboard.addSpace();
  const app = await addApp(space.client);
  const giveCode = async (text: string) => {
    const { client } = await beginSignIn(space);
    return client.trpc.auth.giveCode.mutate({ code: text });
  };
  // The code of the enrolment, and one of two steps ago.
  await expect(giveCode(app.firstCode)).rejects.toMatchObject(code('FORBIDDEN'));
  await expect(giveCode(app.code(Date.now() - 60_000))).rejects.toMatchObject(code('FORBIDDEN'));
  const next = app.code(nextStep());
  const outcomes = await Promise.allSettled([giveCode(next), giveCode(next), giveCode(next)]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
});

test('a recovery code is accepted once; new ones replace the old ones', async () => {
  const space = await dashboard.addSpace();
  const { trpc } = space.client;
  await expect(trpc.secondFactor.renewRecoveryCodes.mutate()).rejects.toMatchObject(
    code('PRECONDITION_FAILED'),
  );
  await addApp(space.client);
  const { codes: old } = await trpc.secondFactor.renewRecoveryCodes.mutate();
  const { codes } = await trpc.secondFactor.renewRecoveryCodes.mutate();
  const [first = ''] = codes;
  const { client } = await beginSignIn(space);
  for (const wrong of [old[0] ?? '', 'x'])
    await expect(client.trpc.auth.giveCode.mutate({ code: wrong })).rejects.toMatchObject(code('FORBIDDEN'));
  await client.trpc.auth.giveCode.mutate({ code: first.toUpperCase() });
  const { client: again } = await beginSignIn(space);
  await expect(again.trpc.auth.giveCode.mutate({ code: first })).rejects.toMatchObject(code('FORBIDDEN'));
  expect(await trpc.secondFactor.list.query()).toMatchObject({ recoveryCodesLeft: 9 });
});

test('the database holds neither the secret of the app nor a recovery code', async () => {
  const { client } = await dashboard.addSpace();
  const { secret } = await client.trpc.secondFactor.proposeTotp.query();
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  await addApp(client);
  const { user } = await client.trpc.me.query();
  const [row] = await dashboard.sql`SELECT secret FROM totp_secrets WHERE user_id = ${user.id}`;
  // 12 bytes of nonce, 16 of tag, and the text.
  expect(row?.secret).toHaveLength(28 + 32);
  expect(row?.secret.toString('latin1')).not.toMatch(/[A-Z2-7]{16}/);
  const { codes } = await client.trpc.secondFactor.renewRecoveryCodes.mutate();
  const hashes = await dashboard.sql`SELECT code_hash FROM recovery_codes WHERE user_id = ${user.id}`;
  expect(hashes).toHaveLength(10);
  for (const { code_hash } of hashes) expect(codes).not.toContain(code_hash.toString());
});

test('the second step belongs to one browser and one password', async () => {
  const space = await dashboard.addSpace();
  const app = await addApp(space.client);
  const next = () => ({ code: app.code(nextStep()) });
  await beginSignIn(space);
  const stranger = openClient(dashboard.url);
  await expect(stranger.trpc.auth.giveCode.mutate(next())).rejects.toMatchObject(code('UNAUTHORIZED'));
  stranger.cookie = `weir_step_${new URL(dashboard.url).port}=${'A'.repeat(200)}`;
  await expect(stranger.trpc.auth.giveCode.mutate(next())).rejects.toMatchObject(code('UNAUTHORIZED'));
  const { client } = await beginSignIn(space);
  const passwords = { currentPassword: space.password, newPassword: 'a new password' };
  await space.client.trpc.auth.changePassword.mutate(passwords);
  await expect(client.trpc.auth.giveCode.mutate(next())).rejects.toMatchObject(code('UNAUTHORIZED'));
  const { client: late } = await beginSignIn({ ...space, password: 'a new password' });
  const { user } = await space.client.trpc.me.query();
  await setDisabled(dashboard.database, user.id, true);
  await expect(late.trpc.auth.giveCode.mutate(next())).rejects.toMatchObject(code('FORBIDDEN'));
});

test('wrong codes are limited, and the right password does not reset the limit', async () => {
  const [space, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const [app, otherApp] = [await addApp(space.client), await addApp(other.client)];
  for (let times = 0; times < codeAttemptsMax; times++) {
    const { client } = await beginSignIn(space);
    await expect(client.trpc.auth.giveCode.mutate({ code: '000000' })).rejects.toMatchObject(
      code('FORBIDDEN'),
    );
  }
  const { client } = await beginSignIn(space);
  const right = { code: app.code(nextStep()) };
  const limited = code('TOO_MANY_REQUESTS');
  await expect(client.trpc.auth.giveCode.mutate(right)).rejects.toMatchObject(limited);
  // The same limit when a session is confirmed.
  const confirmation = { password: space.password, ...right };
  await expect(space.client.trpc.auth.confirm.mutate(confirmation)).rejects.toMatchObject(limited);
  const { client: another } = await beginSignIn(other);
  await another.trpc.auth.giveCode.mutate({ code: otherApp.code(nextStep()) });
  expect(dashboard.log()).toMatch(
    /"outcome":"too_many_attempts","userId":"[^"]+","address":"127.0.0.1","msg":"second step"/,
  );
});

test('a passkey signs in alone, and each answer once', async () => {
  const space = await dashboard.addSpace();
  const authenticator = await addPasskey(space.client, 'telephone');
  const { outcome } = await beginSignIn(space);
  expect(outcome).toEqual({ secondFactors: { totp: false, passkey: true } });
  const client = openClient(dashboard.url);
  const answer = await answerPasskey(client, authenticator);
  const me = await client.trpc.auth.signInWithPasskey.mutate(answer);
  expect(me.user.email).toBe(space.email);
  expect(await client.trpc.me.query()).toEqual(me);
  const replayed = openClient(dashboard.url);
  await expect(replayed.trpc.auth.signInWithPasskey.mutate(answer)).rejects.toMatchObject(
    code('UNAUTHORIZED'),
  );
  // A synchronised passkey always counts 0, so the challenge has to be remembered.
  authenticator.counter = -1;
  await dashboard.sql`UPDATE passkeys SET counter = 0`;
  const zero = await answerPasskey(client, authenticator);
  const outcomes = await Promise.allSettled(
    [zero, zero].map((one) => client.trpc.auth.signInWithPasskey.mutate(one)),
  );
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await lastActions(space, 3)).toEqual([
    ['session.open', { method: 'passkey' }],
    ['session.open', { method: 'passkey' }],
    ['passkey.add', { name: 'telephone' }],
  ]);
});

test('answers of other origins, without a verified user, with an old counter, and of unknown or removed passkeys are refused', async () => {
  const space = await dashboard.addSpace();
  const { client } = space;
  const refuse = async (answered: Awaited<ReturnType<typeof answerPasskey>>) => {
    const stranger = openClient(dashboard.url);
    await expect(stranger.trpc.auth.signInWithPasskey.mutate(answered)).rejects.toMatchObject(
      code('UNAUTHORIZED'),
    );
  };
  const authenticator = await addPasskey(client);
  const right = await answerPasskey(client, authenticator);
  await refuse({ ...right, proposal: altered(right.proposal) });
  const { proposal } = await client.trpc.auth.askPasskey.query();
  await refuse({ ...right, proposal });
  await refuse({
    ...right,
    answer: { ...right.answer, response: { ...right.answer.response, signature: 'AAAA' } },
  });
  authenticator.flags = 0x01;
  await refuse(await answerPasskey(client, authenticator));
  authenticator.flags = 0x05;
  await client.trpc.auth.confirmWithPasskey.mutate(await answerPasskey(client, authenticator));
  authenticator.counter = 0;
  await refuse(await answerPasskey(client, authenticator));
  const foreign = new Authenticator('http://localhost:9999');
  const { creation, proposal: enrolment } = await client.trpc.secondFactor.proposePasskey.query();
  await expect(
    client.trpc.secondFactor.addPasskey.mutate({
      proposal: enrolment,
      name: 'x',
      answer: foreign.create(creation),
    }),
  ).rejects.toMatchObject(code('PRECONDITION_FAILED'));
  await refuse(await answerPasskey(client, foreign));
  const [{ id } = { id: '' }] = (await client.trpc.secondFactor.list.query()).passkeys;
  authenticator.counter = 10;
  const before = await answerPasskey(client, authenticator);
  await client.trpc.secondFactor.removePasskey.mutate({ id });
  await refuse(before);
});

test('a passkey of another user confirms nothing, and cannot be added twice', async () => {
  const [space, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const authenticator = await addPasskey(space.client);
  const foreign = await answerPasskey(other.client, authenticator);
  await expect(other.client.trpc.auth.confirmWithPasskey.mutate(foreign)).rejects.toMatchObject(
    code('FORBIDDEN'),
  );
  const { creation, proposal } = await other.client.trpc.secondFactor.proposePasskey.query();
  await expect(
    other.client.trpc.secondFactor.addPasskey.mutate({
      proposal,
      name: 'x',
      answer: authenticator.create(creation),
    }),
  ).rejects.toMatchObject(code('PRECONDITION_FAILED'));
  // A proposal belongs to the session that asked for it.
  const own = await space.client.trpc.secondFactor.proposePasskey.query();
  const answer = new Authenticator('http://localhost:8081').create(own.creation);
  await expect(
    other.client.trpc.secondFactor.addPasskey.mutate({ proposal: own.proposal, name: 'x', answer }),
  ).rejects.toMatchObject(code('PRECONDITION_FAILED'));
  expect(await other.client.trpc.secondFactor.list.query()).toMatchObject({ passkeys: [] });
});

test('a disabled user cannot sign in with a passkey', async () => {
  const space = await dashboard.addSpace();
  const authenticator = await addPasskey(space.client);
  const { user } = await space.client.trpc.me.query();
  await setDisabled(dashboard.database, user.id, true);
  const client = openClient(dashboard.url);
  const answer = await answerPasskey(client, authenticator);
  await expect(client.trpc.auth.signInWithPasskey.mutate(answer)).rejects.toMatchObject(code('UNAUTHORIZED'));
});

test('the first second factor ends other sessions, a further one does not, and a removal does', async () => {
  const space = await dashboard.addSpace();
  const { client } = space;
  const { client: early } = await beginSignIn(space);
  const app = await addApp(client);
  await expect(early.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  const { client: later } = await beginSignIn(space);
  await later.trpc.auth.giveCode.mutate({ code: app.code(nextStep()) });
  await addPasskey(client);
  await later.trpc.me.query();
  await client.trpc.secondFactor.renewRecoveryCodes.mutate();
  await client.trpc.secondFactor.removeTotp.mutate();
  await expect(later.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  const { passkeys, ...rest } = await client.trpc.secondFactor.list.query();
  expect(rest).toEqual({ totp: null, recoveryCodesLeft: 10 });
  await client.trpc.secondFactor.removePasskey.mutate({ id: passkeys[0]?.id ?? '' });
  expect(await client.trpc.secondFactor.list.query()).toEqual({
    totp: null,
    passkeys: [],
    recoveryCodesLeft: 0,
  });
  expect((await beginSignIn(space)).outcome).toMatchObject({ user: { email: space.email } });
});

test('a sign-in link asks for the second factor too', async () => {
  const space = await dashboard.addSpace();
  const app = await addApp(space.client);
  const { user } = await space.client.trpc.me.query();
  const link = await createSignInLink(dashboard.database, user.id, dashboard.url);
  const client = openClient(dashboard.url);
  const outcome = await client.trpc.auth.redeemLink.mutate({ token: link.split('link=')[1] ?? '' });
  expect(outcome).toEqual({ secondFactors: { totp: true, passkey: false } });
  await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  await client.trpc.auth.giveCode.mutate({ code: app.code(nextStep()) });
  expect(await lastActions(space, 1)).toEqual([['session.open', { method: 'link', secondFactor: 'totp' }]]);
});

test('with SECOND_FACTOR_REQUIRED a user adds a second factor before anything else', async () => {
  await using strict = await openDashboard({
    databaseUrl: dashboard.databaseUrl,
    variables: { SECOND_FACTOR_REQUIRED: 'true' },
  });
  const space = await strict.addSpace();
  const { trpc, cookie = '' } = space.client;
  expect((await trpc.me.query()).user.mustEnrol).toBe(true);
  await expect(trpc.events.list.query()).rejects.toMatchObject(code('FORBIDDEN'));
  await expect(trpc.sessions.list.query()).rejects.toMatchObject(code('FORBIDDEN'));
  const download = () => fetch(`${strict.url}/audit/${space.spaceId}`, { headers: { cookie } });
  expect((await download()).status).toBe(403);
  await addPasskey(space.client);
  expect((await trpc.me.query()).user.mustEnrol).toBe(false);
  await trpc.events.list.query();
  expect((await download()).status).toBe(200);
  // Users of single sign-on have no password here: their provider asks for the second factor.
  const sso = await strict.addSpace();
  await dashboard.sql`UPDATE users SET password_hash = NULL WHERE email = ${sso.email}`;
  expect((await sso.client.trpc.me.query()).user.mustEnrol).toBe(false);
  await expect(sso.client.trpc.secondFactor.proposeTotp.query()).rejects.toMatchObject(
    code('PRECONDITION_FAILED'),
  );
});

test('after a change of API_KEY_PEPPER an app is refused with the reason, and recovery codes still work', async () => {
  const space = await dashboard.addSpace();
  const app = await addApp(space.client);
  const { codes } = await space.client.trpc.secondFactor.renewRecoveryCodes.mutate();
  await using changed = await openDashboard({
    databaseUrl: dashboard.databaseUrl,
    variables: { API_KEY_PEPPER: 'another-pepper-of-the-tests' },
  });
  const { client } = await beginSignIn(space, changed.url);
  await expect(client.trpc.auth.giveCode.mutate({ code: app.code(nextStep()) })).rejects.toMatchObject({
    message: expect.stringContaining('API_KEY_PEPPER was changed'),
  });
  await client.trpc.auth.giveCode.mutate({ code: codes[0] ?? '' });
});

test('passkeys are refused at an address where browsers offer none, and with SSO_REQUIRED', async () => {
  const variables = { DASHBOARD_PUBLIC_URL: 'http://10.0.0.1' };
  await using plain = await openDashboard({ databaseUrl: dashboard.databaseUrl, variables });
  const client = openClient(plain.url);
  expect(await client.trpc.auth.methods.query()).toMatchObject({ password: true, passkey: false });
  await expect(client.trpc.auth.askPasskey.query()).rejects.toMatchObject(code('PRECONDITION_FAILED'));
  expect(await openClient(dashboard.url).trpc.auth.methods.query()).toMatchObject({ passkey: true });
});

test('a second factor that is added while a session opens is asked for, and the session ends', async () => {
  const { client, spaceId, email } = await dashboard.addSpace();
  const { user } = await client.trpc.me.query();
  const { database, sql } = dashboard;
  const sessions = openSessions(database, { isSecondFactorRequired: false });
  const secondStep = new SecondStep({
    database,
    sessions: {
      ...sessions,
      open: async (...args) => {
        const token = await sessions.open(...args);
        await sql`INSERT INTO totp_secrets (user_id, secret, last_step) VALUES (${user.id}, '\\x00'::bytea, 0)`;
        return token;
      },
    },
    seal: openSeal(dashboardPepper, 'test'),
    useCode: async () => undefined,
    arePasswordsAllowed: true,
    log: pino({ level: 'silent' }),
    now: () => 0,
  });
  const browser = { address: '127.0.0.1', userAgent: null };
  const outcome = await secondStep.start({ id: user.id }, browser, 'link');
  expect(outcome).toEqual({ step: expect.any(String), factors: { totp: true, passkey: false } });
  expect(await sql`SELECT id FROM sessions WHERE user_id = ${user.id}`).toHaveLength(1);
  expect(await lastActions({ client, spaceId, email, password: '' }, 2)).toMatchObject([
    ['session.close', {}],
    ['session.open', { method: 'link' }],
  ]);
});
