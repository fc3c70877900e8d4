import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeRole, setRole } from '../../../../lib/accounts/memberships.ts';
import type { Role } from '../../../../lib/accounts/role.ts';
import { hashToken } from '../../../../lib/accounts/secret-token.ts';
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

/** Another user who is also a member of the space. */
async function addMember({ spaceId }: TestSpace, role: Role) {
  const member = await dashboard.addSpace();
  const { user } = await member.client.trpc.me.query();
  await setRole(dashboard.database, spaceId, { userId: user.id, role });
  return { ...member, userId: user.id };
}

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
  const lost = await addMember(space, 'owner');
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
  const maker = await addMember(space, 'owner');
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
