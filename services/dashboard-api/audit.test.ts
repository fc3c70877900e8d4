import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditLog } from '../../store/db/schema.ts';
import { openDashboard, type TestDashboard, type TestSpace } from '../../test/support/dashboard.ts';
import { changesOf } from '../../test/support/protocols/dashboard-changes.ts';
import { callProcedure, procedures } from '../../test/support/protocols/procedures.ts';
import { readRows } from '../../test/support/table-rows.ts';

/**
 * Runs every mutation of the router once successfully: each change must have an audit row. A new mutation
 * fails until its call is described.
 */

let dashboard: TestDashboard;
let space: TestSpace;
beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Mutations that only read, or that set the selected space of the session (sessions.space_id). */
const harmless = ['invitations.look', 'spaces.switch'];
const mutations = procedures.filter(({ type }) => type === 'mutation').map(({ path }) => path);
const changes = mutations.filter((path) => !harmless.includes(path));

/** Prepares a mutation so that it succeeds. @returns a function that calls it. */
async function prepare(path: string): Promise<() => Promise<void>> {
  const change = await changesOf(dashboard, space)[path]?.();
  if (change === undefined) throw new Error(`test/support/protocols/dashboard-changes.ts lacks ${path}`);
  const headers: Record<string, string> = change.cookie === undefined ? {} : { cookie: change.cookie };
  return async () => {
    const outcome = await callProcedure(dashboard.url, { path, type: 'mutation' }, change.input, headers);
    expect(outcome).toMatchObject({ status: 200 });
  };
}

/** All rows except those of the audit log, as text. */
const readState = () => readRows(dashboard, [auditLog]);

async function readAudited(): Promise<{ action: string; actor: string; address: string | null }[]> {
  return dashboard.sql`SELECT action, actor, address FROM audit_log ORDER BY id`;
}

test.each(changes)('%s has an audit row with actor and address', async (path) => {
  space = await dashboard.addSpace();
  const call = await prepare(path);
  const [rows, audited] = [await readState(), await readAudited()];
  await call();
  const added = (await readAudited()).slice(audited.length);
  // Replaying an entry that is rejected again changes nothing, but is audited.
  if (path !== 'quarantine.replay') expect(await readState()).not.toEqual(rows);
  expect(added).not.toEqual([]);
  for (const { actor, address } of added) {
    expect(actor).toMatch(/^[0-9a-f-]{36}$/);
    expect(address).toMatch(/127\.0\.0\.1/);
  }
});

test.each(harmless)('%s changes nothing', async (path) => {
  const call = await prepare(path);
  const [rows, audited] = [await readState(), await readAudited()];
  await call();
  expect(await readState()).toEqual(rows);
  expect(await readAudited()).toEqual(audited);
});

test('actions of a user without a space are in the operator’s log', async () => {
  const user = await dashboard.addSpace();
  const { trpc: own } = user.client;
  const { id } = (await own.me.query()).user;
  await dashboard.sql`DELETE FROM memberships WHERE user_id = ${id}`;
  await own.auth.changePassword.mutate({ currentPassword: user.password, newPassword: 'a new password' });
  await own.auth.signOut.mutate();
  const rows = await dashboard.sql`SELECT action, space_id FROM audit_log WHERE actor = ${id} ORDER BY id`;
  const noSpace = '00000000-0000-0000-0000-000000000000';
  expect(rows.filter(({ space_id }) => space_id === noSpace).map(({ action }) => action)).toEqual([
    'user.password',
    'session.close',
  ]);
});
