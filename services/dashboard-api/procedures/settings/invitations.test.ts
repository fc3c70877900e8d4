import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeRole, setRole } from '../../../../store/accounts/memberships.ts';
import { hashToken } from '../../../../store/accounts/secret-token.ts';
import {
  openClient,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../../test/support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const code = (value: string) => ({ data: { code: value } });

test('demoting or removing an admin revokes exactly their open invitations to the space', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const [first, second] = [
    await dashboard.addMember({ spaceId }, 'admin'),
    await dashboard.addMember({ spaceId }, 'admin'),
  ];
  const invite = (one: TestSpace['client'], email: string) =>
    one.trpc.invitations.create.mutate({ spaceId, email, role: 'viewer' });
  const open = async () => (await client.trpc.invitations.list.query()).map(({ email }) => email).toSorted();
  await invite(client, 'owner@example.org');
  await invite(first.client, 'admin-0@example.org');
  await invite(second.client, 'admin-1@example.org');
  // Also in a space that they own.
  await first.client.trpc.invitations.create.mutate({
    spaceId: first.spaceId,
    email: 'elsewhere@example.org',
    role: 'viewer',
  });
  await client.trpc.members.setRole.mutate({ userId: first.userId, role: 'admin' });
  expect(await open()).toEqual(['admin-0@example.org', 'admin-1@example.org', 'owner@example.org']);
  await client.trpc.members.setRole.mutate({ userId: first.userId, role: 'member' });
  expect(await open()).toEqual(['admin-1@example.org', 'owner@example.org']);
  await client.trpc.members.remove.mutate({ userId: second.userId });
  expect(await open()).toEqual(['owner@example.org']);
  expect((await client.trpc.audit.list.query({ action: 'invitation.revoke' })).rows).toHaveLength(2);
  const elsewhere = await first.client.trpc.invitations.list.query({ spaceId: first.spaceId });
  expect(elsewhere).toHaveLength(1);
});

test('a person has at most one open invitation to a space: the newest', async () => {
  const { client } = await dashboard.addSpace();
  const email = 'twice@example.org';
  const first = await client.trpc.invitations.create.mutate({ email, role: 'admin' });
  await dashboard.sql`UPDATE invitations SET expires_at = now() - interval '1 day' WHERE id = ${first.id}`;
  const [second] = await Promise.all(
    [1, 2, 3].map(() =>
      client.trpc.invitations.create.mutate({ email: email.toUpperCase(), role: 'viewer' }),
    ),
  );
  expect(second).toBeDefined();
  const last = await client.trpc.invitations.create.mutate({ email, role: 'member' });
  expect(await client.trpc.invitations.list.query()).toEqual([
    expect.objectContaining({ id: last.id, email, role: 'member' }),
  ]);
  const { trpc } = openClient(dashboard.url);
  for (const { token } of [first, second ?? first]) {
    await expect(trpc.invitations.look.mutate({ token })).rejects.toMatchObject(code('NOT_FOUND'));
  }
  expect(await trpc.invitations.look.mutate({ token: last.token })).toMatchObject({ role: 'member' });
});

/** Ways to lose rights, and whether the user's invitations of viewers end too. */
const losses: [string, (space: TestSpace, userId: string) => Promise<unknown>, boolean][] = [
  [
    'demoted to admin',
    ({ client }, userId) => client.trpc.members.setRole.mutate({ userId, role: 'admin' }),
    false,
  ],
  [
    'demoted to viewer',
    ({ client }, userId) => client.trpc.members.setRole.mutate({ userId, role: 'viewer' }),
    true,
  ],
  ['removed', ({ client }, userId) => client.trpc.members.remove.mutate({ userId }), true],
  [
    'demoted by the operator',
    (space, userId) => setRole(dashboard.database, space.spaceId, { userId, role: 'admin' }),
    false,
  ],
  ['removed by the operator', (space, userId) => removeRole(dashboard.database, space.spaceId, userId), true],
];

test.each(losses)('an owner who is %s cannot return through an invitation', async (_, lose, endsAll) => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  const lost = await dashboard.addMember(space, 'owner');
  const { trpc } = lost.client;
  const owner = await trpc.invitations.create.mutate({ spaceId, email: 'o@example.org', role: 'owner' });
  const viewer = await trpc.invitations.create.mutate({ spaceId, email: 'v@example.org', role: 'viewer' });
  // An invitation to the member's own address: it can be created just before they join in another way.
  const token = randomBytes(32).toString('base64url');
  await dashboard.sql`
    INSERT INTO invitations (space_id, token_hash, email, role, created_by, expires_at)
    SELECT space_id, ${hashToken(token)}, ${lost.email}, 'owner', user_id::text, now() + interval '1 day'
    FROM memberships WHERE space_id = ${spaceId} AND user_id <> ${lost.userId}`;
  await lose(space, lost.userId);
  const open = (await space.client.trpc.invitations.list.query()).map(({ id }) => id);
  expect(open).toEqual(endsAll ? [] : [viewer.id]);
  const stranger = openClient(dashboard.url).trpc;
  for (const ended of [owner.token, token])
    await expect(stranger.invitations.look.mutate({ token: ended })).rejects.toMatchObject(code('NOT_FOUND'));
  await expect(trpc.invitations.accept.mutate({ token })).rejects.toMatchObject(code('NOT_FOUND'));
});

test('an invitation is invalid while its creator lacks the role for it, even if no revocation caught it', async () => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  const maker = await dashboard.addMember(space, 'owner');
  const email = 'unseen@example.org';
  const { token } = await maker.client.trpc.invitations.create.mutate({ spaceId, email, role: 'owner' });
  await dashboard.sql`UPDATE memberships SET role = 'admin' WHERE space_id = ${spaceId} AND user_id = ${maker.userId}`;
  const { trpc } = openClient(dashboard.url);
  for (const call of [
    () => trpc.invitations.look.mutate({ token }),
    () => trpc.invitations.accept.mutate({ token, password: 'my password' }),
  ])
    await expect(call()).rejects.toMatchObject(code('NOT_FOUND'));
});
