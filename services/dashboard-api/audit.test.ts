import { randomUUID } from 'node:crypto';
import { getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSignInLink } from '../../lib/accounts/sign-in-links.ts';
import * as schema from '../../lib/db/schema.ts';
import {
  openClient,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../test/support/dashboard.ts';
import { procedures } from '../../test/support/protocols/procedures.ts';

/** Every mutation of the router, once as it succeeds: what changes anything has an audit row. A new mutation fails the first test. */

let dashboard: TestDashboard;
let space: TestSpace;
beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const trpc = () => space.client.trpc;
const password = 'a new password';
const price = { model: 'm', validFrom: '2026-01-01', input: '1', output: '2' };

async function addMember(): Promise<string> {
  const { spaceId } = await dashboard.addSpace();
  await dashboard.sql`
    INSERT INTO memberships (space_id, user_id, role)
    SELECT ${space.spaceId}, user_id, 'viewer' FROM memberships WHERE space_id = ${spaceId}`;
  const [row] = await dashboard.sql`SELECT user_id FROM memberships WHERE space_id = ${spaceId}`;
  return row?.user_id;
}
async function invite(email = `${randomUUID()}@example.org`) {
  return trpc().invitations.create.mutate({ spaceId: space.spaceId, email, role: 'viewer' });
}
async function signInAgain(): Promise<string> {
  const { trpc: other } = openClient(dashboard.url);
  await other.auth.signIn.mutate(space);
  const sessions = await other.sessions.list.query();
  return sessions.find(({ isCurrent }) => isCurrent)?.id ?? '';
}
async function quarantine(): Promise<string> {
  const [row] = await dashboard.sql`
    INSERT INTO quarantine (space_id, received_at, event_count, sqlstate, message, part)
    VALUES (${space.spaceId}, now(), 1, '23514', 'refused', '\\x00'::bytea) RETURNING id`;
  return row?.id;
}

/** Prepares a mutation, and returns the call of it. */
const changes: Record<string, () => Promise<() => Promise<unknown>>> = {
  'apiKeys.create': async () => () => trpc().apiKeys.create.mutate({ name: 'k' }),
  'apiKeys.revoke': async () => {
    const { keyId } = await trpc().apiKeys.create.mutate({ name: 'k' });
    return () => trpc().apiKeys.revoke.mutate({ keyId });
  },
  'apiKeys.roll': async () => {
    const { keyId } = await trpc().apiKeys.create.mutate({ name: 'k' });
    return () => trpc().apiKeys.roll.mutate({ keyId });
  },
  'auth.changePassword': async () => {
    const user = await dashboard.addSpace();
    return () =>
      user.client.trpc.auth.changePassword.mutate({ currentPassword: user.password, newPassword: password });
  },
  'auth.redeemLink': async () => {
    const userId = await addMember();
    const link = await createSignInLink(dashboard.database, userId, 'http://x');
    const token = link.split('link=')[1] ?? '';
    return () => openClient(dashboard.url).trpc.auth.redeemLink.mutate({ token });
  },
  'auth.signIn': async () => () => openClient(dashboard.url).trpc.auth.signIn.mutate(space),
  'auth.signOut': async () => {
    const user = await dashboard.addSpace();
    return () => user.client.trpc.auth.signOut.mutate();
  },
  'invitations.accept': async () => {
    const { token } = await invite();
    return () => openClient(dashboard.url).trpc.invitations.accept.mutate({ token, password });
  },
  'invitations.create': async () => () => invite(),
  'invitations.revoke': async () => {
    const { id } = await invite();
    return () => trpc().invitations.revoke.mutate({ id });
  },
  'members.remove': async () => {
    const userId = await addMember();
    return () => trpc().members.remove.mutate({ userId });
  },
  'members.setRole': async () => {
    const userId = await addMember();
    return () => trpc().members.setRole.mutate({ userId, role: 'admin' });
  },
  'prices.set': async () => () => trpc().prices.set.mutate(price),
  'prices.remove': async () => {
    await trpc().prices.set.mutate({ ...price, model: 'removed' });
    return () => trpc().prices.remove.mutate({ ...price, model: 'removed' });
  },
  'quarantine.replay': async () => {
    const id = await quarantine();
    return () => trpc().quarantine.replay.mutate({ ids: [id] });
  },
  'sessions.revoke': async () => {
    const id = await signInAgain();
    return () => trpc().sessions.revoke.mutate({ id });
  },
  'sessions.revokeOthers': async () => {
    await signInAgain();
    return () => trpc().sessions.revokeOthers.mutate();
  },
  'spaces.create': async () => () => trpc().spaces.create.mutate({ name: 'another' }),
  'spaces.rename': async () => () => trpc().spaces.rename.mutate({ spaceId: space.spaceId, name: 'renamed' }),
};
/** They read, or note what a session looks at: sessions.space_id. */
const harmless: Record<string, () => Promise<() => Promise<unknown>>> = {
  'invitations.look': async () => {
    const { token } = await invite();
    return () => openClient(dashboard.url).trpc.invitations.look.mutate({ token });
  },
  'spaces.switch': async () => () => trpc().spaces.switch.mutate({ spaceId: space.spaceId }),
};

const tables = Object.values(schema).filter((one) => is(one, PgTable));

/** All rows but the audit log's, as text. */
async function readRows(): Promise<string> {
  const rows = await Promise.all(
    tables
      .filter((table) => table !== schema.auditLog)
      .map(async (table) => {
        const ofSession = table === schema.sessions ? '{last_used_at,space_id}' : '{}';
        const found = await dashboard.sql<{ row: string }[]>`
        SELECT (to_jsonb(one) - ${ofSession}::text[])::text AS row FROM ${dashboard.sql(getTableName(table))} AS one`;
        return found.map(({ row }) => `${getTableName(table)} ${row}`);
      }),
  );
  return rows.flat().sort().join('\n');
}

async function readAudited(): Promise<{ action: string; actor: string; address: string | null }[]> {
  return dashboard.sql`SELECT action, actor, address FROM audit_log ORDER BY id`;
}

test('every mutation is called here', () => {
  const mutations = procedures.filter(({ type }) => type === 'mutation').map(({ path }) => path);
  expect(mutations.toSorted()).toEqual([...Object.keys(changes), ...Object.keys(harmless)].sort());
});

test.each(Object.entries(changes))('%s has an audit row of who and from where', async (path, prepare) => {
  const call = await prepare();
  const [rows, audited] = [await readRows(), await readAudited()];
  await call();
  const added = (await readAudited()).slice(audited.length);
  // Replaying what is refused again changes nothing, and is audited nevertheless.
  if (path !== 'quarantine.replay') expect(await readRows()).not.toBe(rows);
  expect(added).not.toEqual([]);
  for (const { actor, address } of added) {
    expect(actor).toMatch(/^[0-9a-f-]{36}$/);
    expect(address).toMatch(/127\.0\.0\.1/);
  }
});

test.each(Object.entries(harmless))('%s changes nothing', async (_path, prepare) => {
  const call = await prepare();
  const [rows, audited] = [await readRows(), await readAudited()];
  await call();
  expect(await readRows()).toBe(rows);
  expect(await readAudited()).toEqual(audited);
});

test('what a user of no space does is in the log of the operator', async () => {
  const user = await dashboard.addSpace();
  const { trpc: own } = user.client;
  const { id } = (await own.me.query()).user;
  await dashboard.sql`DELETE FROM memberships WHERE user_id = ${id}`;
  await own.auth.changePassword.mutate({ currentPassword: user.password, newPassword: password });
  await own.auth.signOut.mutate();
  const rows = await dashboard.sql`SELECT action, space_id FROM audit_log WHERE actor = ${id} ORDER BY id`;
  const noSpace = '00000000-0000-0000-0000-000000000000';
  expect(rows.filter(({ space_id }) => space_id === noSpace).map(({ action }) => action)).toEqual([
    'user.password',
    'session.close',
  ]);
});
