import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openClient,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const code = (value: string) => ({ data: { code: value } });
const rolesIn = async (spaceId: string) =>
  (await dashboard.sql`SELECT role FROM memberships WHERE space_id = ${spaceId} ORDER BY role`).map(
    ({ role }) => role,
  );

test('an invitation creates the user, signs in, and can be accepted once', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const email = 'New.Person@example.org';
  const { token } = await client.trpc.invitations.create.mutate({ email, role: 'member' });
  const invited = openClient(dashboard.url);
  expect(await invited.trpc.invitations.look.mutate({ token })).toMatchObject({
    email: 'new.person@example.org',
    role: 'member',
    hasAccount: false,
  });
  await expect(invited.trpc.invitations.accept.mutate({ token })).rejects.toMatchObject(code('BAD_REQUEST'));
  await invited.trpc.invitations.accept.mutate({ token, password: 'my password' });
  expect(await invited.trpc.me.query()).toMatchObject({
    user: { email: 'new.person@example.org', hasPassword: true },
    spaces: [{ id: spaceId, role: 'member' }],
  });
  await openClient(dashboard.url).trpc.auth.signIn.mutate({ email, password: 'my password' });
  const again = openClient(dashboard.url);
  await expect(
    again.trpc.invitations.accept.mutate({ token, password: 'my password' }),
  ).rejects.toMatchObject(code('NOT_FOUND'));
  expect(await client.trpc.invitations.list.query()).toEqual([]);
  expect(dashboard.log()).not.toContain(token);
  const [stored] = await dashboard.sql`SELECT encode(token_hash, 'escape') AS hash FROM invitations`;
  expect(stored?.hash).not.toContain(token);
});

test('of concurrent acceptances one succeeds, and one user is created', async () => {
  const { client } = await dashboard.addSpace();
  for (let round = 0; round < 5; round++) {
    const email = `race-${round}@example.org`;
    const { token } = await client.trpc.invitations.create.mutate({ email, role: 'viewer' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, () =>
        openClient(dashboard.url).trpc.invitations.accept.mutate({ token, password: 'my password' }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(['NOT_FOUND', 'CONFLICT']).toContain(outcome.reason.data.code);
      }
    }
  }
  expect(await dashboard.sql`SELECT 1 FROM users WHERE email LIKE 'race-%'`).toHaveLength(5);
});

test('two invitations of one person to two spaces, accepted concurrently, create one user', async () => {
  const spaces = [await dashboard.addSpace(), await dashboard.addSpace()];
  const email = 'both@example.org';
  const outcomes = await Promise.allSettled(
    spaces.map(async ({ client }) => {
      const { token } = await client.trpc.invitations.create.mutate({ email, role: 'viewer' });
      return openClient(dashboard.url).trpc.invitations.accept.mutate({ token, password: 'my password' });
    }),
  );
  for (const outcome of outcomes) {
    // The invitation of the second call stays open.
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(code('CONFLICT'));
  }
  expect(await dashboard.sql`SELECT 1 FROM users WHERE email = ${email}`).toHaveLength(1);
});

test('a person with an account must sign in first, with the e-mail address of the invitation', async () => {
  const [space, guest, stranger] = [
    await dashboard.addSpace(),
    await dashboard.addSpace(),
    await dashboard.addSpace(),
  ];
  const { trpc } = space.client;
  const { token } = await trpc.invitations.create.mutate({ email: guest.email, role: 'member' });
  const accept = (client: TestSpace['client'], password?: string) =>
    client.trpc.invitations.accept.mutate({ token, password });
  await expect(accept(openClient(dashboard.url), 'my password')).rejects.toMatchObject(code('CONFLICT'));
  await expect(accept(stranger.client)).rejects.toMatchObject(code('FORBIDDEN'));
  expect(await accept(guest.client)).toEqual({ spaceId: space.spaceId });
  expect((await guest.client.trpc.me.query()).spaces).toHaveLength(2);
  await expect(
    trpc.invitations.create.mutate({ email: guest.email.toUpperCase(), role: 'member' }),
  ).rejects.toMatchObject(code('CONFLICT'));
});

test('a revoked or expired invitation is rejected', async () => {
  const { client, spaceId } = await dashboard.addSpace();
  const create = () => client.trpc.invitations.create.mutate({ email: 'late@example.org', role: 'viewer' });
  const revoked = await create();
  await client.trpc.invitations.revoke.mutate({ id: revoked.id });
  await expect(client.trpc.invitations.revoke.mutate({ id: revoked.id })).rejects.toMatchObject(
    code('NOT_FOUND'),
  );
  const expired = await create();
  await dashboard.sql`UPDATE invitations SET expires_at = now() WHERE id = ${expired.id}`;
  const { trpc } = openClient(dashboard.url);
  for (const { token } of [revoked, expired]) {
    await expect(trpc.invitations.look.mutate({ token })).rejects.toMatchObject(code('NOT_FOUND'));
    await expect(trpc.invitations.accept.mutate({ token, password: 'my password' })).rejects.toMatchObject(
      code('NOT_FOUND'),
    );
  }
  expect(await client.trpc.invitations.list.query()).toEqual([]);
  expect(await rolesIn(spaceId)).toEqual(['owner']);
});

test('accepting an invitation does not lower a role', async () => {
  const [space, guest] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const { user } = await guest.client.trpc.me.query();
  const { token } = await space.client.trpc.invitations.create.mutate({
    email: guest.email,
    role: 'viewer',
  });
  // setRole would revoke the invitation.
  await dashboard.sql`
    INSERT INTO memberships (space_id, user_id, role) VALUES (${space.spaceId}, ${user.id}, 'admin')`;
  await guest.client.trpc.invitations.accept.mutate({ token });
  expect(await rolesIn(space.spaceId)).toEqual(['admin', 'owner']);
});
