import { afterAll, beforeAll, expect, test } from 'vitest';
import { setRole } from '../../../../lib/accounts/memberships.ts';
import type { Role } from '../../../../lib/accounts/role.ts';
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

const userIdOf = async ({ client }: TestSpace) => (await client.trpc.me.query()).user.id;
const rolesIn = async (spaceId: string) =>
  (await dashboard.sql`SELECT role FROM memberships WHERE space_id = ${spaceId} ORDER BY role`).map(
    ({ role }) => role,
  );

test('the role of a member can be changed, and the member removed', async () => {
  const space = await dashboard.addSpace();
  const { userId, email, client } = await addMember(space, 'viewer');
  const { trpc } = space.client;
  const { spaceId } = space;
  await trpc.members.setRole.mutate({ userId, role: 'admin' });
  await dashboard.sql`UPDATE users SET email_verified_at = NULL WHERE id = ${userId}`;
  const listed = await client.trpc.members.list.query({ spaceId });
  expect(listed).toContainEqual({ userId, email, role: 'admin', emailVerifiedAt: null });
  const verified = { email: space.email, emailVerifiedAt: expect.stringMatching(/^\d{4}-.*Z$/) };
  expect(listed).toContainEqual(expect.objectContaining(verified));
  await trpc.members.remove.mutate({ userId });
  await expect(client.trpc.members.list.query({ spaceId })).rejects.toMatchObject(code('NOT_FOUND'));
  await expect(trpc.members.remove.mutate({ userId })).rejects.toMatchObject(code('NOT_FOUND'));
});

test('an admin ends all sessions of a member, and the audit log says so', async () => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  const member = await addMember(space, 'viewer');
  const second = openClient(dashboard.url);
  await second.trpc.auth.signIn.mutate(member);
  const { trpc } = (await addMember(space, 'admin')).client;
  expect(await trpc.members.endSessions.mutate({ spaceId, userId: member.userId })).toEqual({ ended: 2 });
  for (const { client } of [member, { client: second }])
    await expect(client.trpc.me.query()).rejects.toMatchObject(code('UNAUTHORIZED'));
  const { rows } = await trpc.audit.list.query({ spaceId });
  const ended = { action: 'member.end_session', target: member.userId, targetName: member.email };
  expect(rows.slice(0, 2)).toEqual([expect.objectContaining(ended), expect.objectContaining(ended)]);
  expect(await trpc.members.endSessions.mutate({ spaceId, userId: member.userId })).toEqual({ ended: 0 });
  const stranger = await userIdOf(await dashboard.addSpace());
  await expect(trpc.members.endSessions.mutate({ spaceId, userId: stranger })).rejects.toMatchObject(
    code('NOT_FOUND'),
  );
});

test('an admin cannot make, change or remove owners', async () => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  const owner = await userIdOf(space);
  const { trpc } = (await addMember(space, 'admin')).client;
  const viewer = await addMember(space, 'viewer');
  const calls = [
    () => trpc.members.setRole.mutate({ spaceId, userId: viewer.userId, role: 'owner' }),
    () => trpc.members.setRole.mutate({ spaceId, userId: owner, role: 'viewer' }),
    () => trpc.members.remove.mutate({ spaceId, userId: owner }),
    () => trpc.members.endSessions.mutate({ spaceId, userId: owner }),
    () => trpc.invitations.create.mutate({ spaceId, email: 'x@example.org', role: 'owner' }),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject(code('FORBIDDEN'));
  expect(await rolesIn(spaceId)).toEqual(['admin', 'owner', 'viewer']);
});

test('the last owner can neither be demoted nor removed, not even by themselves', async () => {
  const space = await dashboard.addSpace();
  const { trpc } = space.client;
  const userId = await userIdOf(space);
  await expect(trpc.members.setRole.mutate({ userId, role: 'admin' })).rejects.toMatchObject(
    code('CONFLICT'),
  );
  await expect(trpc.members.remove.mutate({ userId })).rejects.toMatchObject(code('CONFLICT'));
  await trpc.members.setRole.mutate({ userId, role: 'owner' });
  const second = await addMember(space, 'owner');
  await trpc.members.setRole.mutate({ userId, role: 'viewer' });
  expect(await rolesIn(space.spaceId)).toEqual(['owner', 'viewer']);
  expect((await second.client.trpc.me.query()).spaces).toContainEqual(
    expect.objectContaining({ id: space.spaceId, role: 'owner' }),
  );
});

test('when owners remove and demote each other concurrently, one owner remains', async () => {
  for (let round = 0; round < 10; round++) {
    const space = await dashboard.addSpace();
    const { spaceId } = space;
    const others = [await addMember(space, 'owner'), await addMember(space, 'owner')];
    const owners = [{ client: space.client, userId: await userIdOf(space) }, ...others];
    await Promise.allSettled(
      owners.flatMap(({ client }, i) => {
        const userId = owners[(i + 1) % owners.length]?.userId ?? '';
        return [
          client.trpc.members.remove.mutate({ spaceId, userId }),
          client.trpc.members.setRole.mutate({ spaceId, userId, role: 'viewer' }),
        ];
      }),
    );
    expect(await rolesIn(spaceId)).toContain('owner');
  }
});

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
  const space = await dashboard.addSpace();
  const guest = await dashboard.addSpace();
  const { token } = await space.client.trpc.invitations.create.mutate({
    email: guest.email,
    role: 'viewer',
  });
  // setRole would revoke the invitation.
  await dashboard.sql`
    INSERT INTO memberships (space_id, user_id, role) VALUES (${space.spaceId}, ${await userIdOf(guest)}, 'admin')`;
  await guest.client.trpc.invitations.accept.mutate({ token });
  expect(await rolesIn(space.spaceId)).toEqual(['admin', 'owner']);
});

test('an output that does not match its schema is not sent', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const other = await dashboard.addSpace({ role: 'viewer' });
  await dashboard.sql`
    INSERT INTO memberships (space_id, user_id, role)
    SELECT ${spaceId}, user_id, 'boss' FROM memberships WHERE space_id = ${other.spaceId}`;
  await expect(client.trpc.members.list.query()).rejects.toMatchObject({
    message: 'Something went wrong on our side.',
    data: { code: 'INTERNAL_SERVER_ERROR' },
  });
});

test('demoting or removing an admin revokes exactly their open invitations to the space', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const admins = [await dashboard.addSpace(), await dashboard.addSpace()];
  const ids = await Promise.all(admins.map(async (one) => (await one.client.trpc.me.query()).user.id));
  for (const userId of ids) {
    await dashboard.sql`INSERT INTO memberships (space_id, user_id, role) VALUES (${spaceId}, ${userId}, 'admin')`;
  }
  const invite = (one: TestSpace['client'], email: string) =>
    one.trpc.invitations.create.mutate({ spaceId, email, role: 'viewer' });
  const open = async () => (await client.trpc.invitations.list.query()).map(({ email }) => email).toSorted();
  await invite(client, 'owner@example.org');
  for (const [i, admin] of admins.entries()) await invite(admin.client, `admin-${i}@example.org`);
  // Also in a space that they own.
  await admins[0]?.client.trpc.invitations.create.mutate({
    spaceId: admins[0].spaceId,
    email: 'elsewhere@example.org',
    role: 'viewer',
  });
  const [first = '', second = ''] = ids;
  await client.trpc.members.setRole.mutate({ userId: first, role: 'admin' });
  expect(await open()).toEqual(['admin-0@example.org', 'admin-1@example.org', 'owner@example.org']);
  await client.trpc.members.setRole.mutate({ userId: first, role: 'member' });
  expect(await open()).toEqual(['admin-1@example.org', 'owner@example.org']);
  await client.trpc.members.remove.mutate({ userId: second });
  expect(await open()).toEqual(['owner@example.org']);
  expect((await client.trpc.audit.list.query({ action: 'invitation.revoke' })).rows).toHaveLength(2);
  const elsewhere = await admins[0]?.client.trpc.invitations.list.query({ spaceId: admins[0].spaceId });
  expect(elsewhere).toHaveLength(1);
});
