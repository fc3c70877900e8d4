import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openClient,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../test/support/dashboard.ts';
import type { Change } from '../../test/support/protocols/change.ts';
import { changesOf } from '../../test/support/protocols/dashboard-changes.ts';
import { callProcedure, procedures } from '../../test/support/protocols/procedures.ts';
import { readRows } from '../../test/support/table-rows.ts';
import { confirmationTtlMs, signInAttemptsMax } from './accounts/limits.ts';

/** Exactly the changes that widen access are refused to a session that authenticated too long ago. */

let dashboard: TestDashboard;
let space: TestSpace;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Every mutation. A new one fails here until it is added. */
const isConfirmationNeeded: Record<string, boolean> = {
  'apiKeys.create': true,
  'apiKeys.roll': true,
  'invitations.create': true,
  'members.remove': true,
  'members.setRole': true,
  // These delete events.
  'erasures.request': true,
  'spaces.delete': true,
  // It sends names and numbers out of Weir.
  'alerts.createTarget': true,
  'spaces.setRetention': true,
  // It gives keys and members their access again.
  'spaces.restore': true,
  'secondFactor.addPasskey': true,
  'secondFactor.addTotp': true,
  'secondFactor.removePasskey': true,
  'secondFactor.removeTotp': true,
  'secondFactor.renewRecoveryCodes': true,
  // These only remove access: of keys, invitations and sessions.
  'apiKeys.revoke': false,
  'invitations.revoke': false,
  'members.endSessions': false,
  'alerts.removeTarget': false,
  // These send to targets that exist.
  'alerts.save': false,
  'alerts.remove': false,
  'alerts.mute': false,
  'alerts.testTarget': false,
  'sessions.revoke': false,
  'sessions.revokeOthers': false,
  'auth.signOut': false,
  // The call itself authenticates, with a password, a passkey, a code or a token.
  'auth.changePassword': false,
  'auth.confirm': false,
  'auth.confirmWithPasskey': false,
  'auth.giveCode': false,
  'auth.signInWithPasskey': false,
  'auth.redeemLink': false,
  'auth.signIn': false,
  'invitations.accept': false,
  'invitations.look': false,
  // These give no access to existing data.
  'notes.add': false,
  'notes.change': false,
  'notes.remove': false,
  'prices.remove': false,
  'prices.set': false,
  'views.remove': false,
  'views.rename': false,
  'views.save': false,
  'quarantine.replay': false,
  'spaces.create': false,
  'spaces.rename': false,
  'spaces.setDimensions': false,
  'spaces.switch': false,
};
const mutations = procedures.filter(({ type }) => type === 'mutation').map(({ path }) => path);
const confirmed = mutations.filter((path) => isConfirmationNeeded[path]);

/** Moves the authentication of all sessions into the past. */
const age = (byMs: number) =>
  dashboard.sql`UPDATE sessions SET authenticated_at = now() - ${byMs}::float8 * interval '1 millisecond'`;

async function prepare(path: string): Promise<Change> {
  space = await dashboard.addSpace();
  const change = await changesOf(dashboard, space)[path]?.();
  if (change === undefined) throw new Error(`test/support/protocols/dashboard-changes.ts lacks ${path}`);
  return change;
}

const call = (path: string, { input, cookie }: Change) =>
  callProcedure(dashboard.url, { path, type: 'mutation' }, input, cookie === undefined ? {} : { cookie });

test('the table has every mutation, and the router agrees with it', () => {
  expect(Object.keys(isConfirmationNeeded).toSorted()).toEqual(mutations.toSorted());
  expect(procedures.filter(({ isConfirmed }) => isConfirmed).map(({ path }) => path)).toEqual(confirmed);
  expect(confirmed.length).toBeGreaterThan(4);
});

test.each(mutations)('%s of a session that authenticated too long ago', async (path) => {
  const change = await prepare(path);
  await age(confirmationTtlMs + 1);
  const before = await readRows(dashboard);
  const outcome = await call(path, change);
  if (!isConfirmationNeeded[path]) return expect(outcome).toMatchObject({ status: 200 });
  expect(outcome).toMatchObject({
    status: 428,
    body: expect.stringContaining('"code":"PRECONDITION_REQUIRED"'),
  });
  expect(await readRows(dashboard)).toEqual(before);
  await space.client.trpc.auth.confirm.mutate({ password: space.password, code: change.code?.() });
  expect(await call(path, change)).toMatchObject({ status: 200 });
});

test.each(confirmed)('%s of a session that authenticated recently succeeds', async (path) => {
  const change = await prepare(path);
  await age(confirmationTtlMs - 60_000);
  expect(await call(path, change)).toMatchObject({ status: 200 });
});

const code = (value: string) => ({ data: { code: value } });

test('a demoted admin gets FORBIDDEN and is not asked for the password', async () => {
  const change = await prepare('apiKeys.create');
  await age(confirmationTtlMs + 1);
  await dashboard.sql`UPDATE memberships SET role = 'viewer' WHERE space_id = ${space.spaceId}`;
  expect(await call('apiKeys.create', change)).toMatchObject({ status: 403 });
});

test('confirming renews one session and is audited', async () => {
  const { client, email, password, spaceId } = await dashboard.addSpace();
  const other = openClient(dashboard.url);
  await other.trpc.auth.signIn.mutate({ email, password });
  await age(confirmationTtlMs + 1);
  await client.trpc.auth.confirm.mutate({ password });
  await client.trpc.apiKeys.create.mutate({ spaceId, name: 'k' });
  await expect(other.trpc.apiKeys.create.mutate({ spaceId, name: 'k' })).rejects.toMatchObject(
    code('PRECONDITION_REQUIRED'),
  );
  const { rows } = await client.trpc.audit.list.query();
  expect(rows.slice(0, 2).map(({ action }) => action)).toEqual(['api_key.create', 'session.confirm']);
});

test('a wrong password renews nothing and counts as a sign-in attempt', async () => {
  const { client, email, password, spaceId } = await dashboard.addSpace();
  await age(confirmationTtlMs + 1);
  for (let times = 0; times < signInAttemptsMax; times++) {
    await expect(client.trpc.auth.confirm.mutate({ password: 'wrong' })).rejects.toMatchObject(
      code('FORBIDDEN'),
    );
  }
  const late = code('TOO_MANY_REQUESTS');
  await expect(client.trpc.auth.confirm.mutate({ password })).rejects.toMatchObject(late);
  const stranger = openClient(dashboard.url);
  await expect(stranger.trpc.auth.signIn.mutate({ email, password })).rejects.toMatchObject(late);
  await expect(client.trpc.apiKeys.create.mutate({ spaceId, name: 'k' })).rejects.toMatchObject(
    code('PRECONDITION_REQUIRED'),
  );
  expect(dashboard.log()).toContain('"outcome":"rejected"');
  expect(dashboard.log()).toMatch(
    /"outcome":"too_many_attempts","userId":"[^"]+","address":"127.0.0.1","msg":"confirm"/,
  );
});
