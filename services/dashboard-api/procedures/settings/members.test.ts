import { afterAll, beforeAll, expect, test } from 'vitest';
import { setDisabled } from '../../../../store/accounts/users.ts';
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

const userIdOf = async ({ client }: TestSpace) => (await client.trpc.me.query()).user.id;
const rolesIn = async (spaceId: string) =>
  (await dashboard.sql`SELECT role FROM memberships WHERE space_id = ${spaceId} ORDER BY role`).map(
    ({ role }) => role,
  );

test('the role of a member can be changed, and the member removed', async () => {
  const space = await dashboard.addSpace();
  const { userId, email, client } = await dashboard.addMember(space, 'viewer');
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

test('alerts are no longer sent to the address of a removed or disabled member', async () => {
  const [space, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const members = [await dashboard.addMember(space, 'admin'), await dashboard.addMember(space, 'admin')];
  const addTargets = async ({ client }: TestSpace) => {
    for (const { email } of members)
      await client.trpc.alerts.createTarget.mutate({
        name: 'm',
        kind: 'email',
        address: email.toUpperCase(),
      });
  };
  await addTargets(space);
  await addTargets(other);
  const { trpc } = space.client;
  const hook = { name: 'hook', kind: 'webhook', address: 'https://receiver.example/' } as const;
  await trpc.alerts.createTarget.mutate(hook);
  const addresses = async ({ client }: TestSpace) =>
    (await client.trpc.alerts.targets.query()).targets.map(({ shownAddress }) => shownAddress.toLowerCase());
  const [removed, disabled] = members.map(({ email }) => email);
  const [first, second] = members;
  await trpc.members.setRole.mutate({ userId: first?.userId ?? '', role: 'viewer' });
  expect(await addresses(space)).toContain(removed);
  await trpc.members.remove.mutate({ userId: first?.userId ?? '' });
  expect((await addresses(space)).toSorted()).toEqual([disabled, 'receiver.example'].toSorted());
  expect(await addresses(other)).toHaveLength(2);
  const { rows } = await trpc.audit.list.query({});
  expect(rows).toContainEqual(expect.objectContaining({ action: 'alert_target.remove' }));
  await setDisabled(dashboard.database, second?.userId ?? '', true);
  expect(await addresses(space)).toEqual(['receiver.example']);
  expect(await addresses(other)).toEqual([removed]);
});

test('an admin ends all sessions of a member, and the audit log says so', async () => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  const member = await dashboard.addMember(space, 'viewer');
  const second = openClient(dashboard.url);
  await second.trpc.auth.signIn.mutate(member);
  const { trpc } = (await dashboard.addMember(space, 'admin')).client;
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
  const { trpc } = (await dashboard.addMember(space, 'admin')).client;
  const viewer = await dashboard.addMember(space, 'viewer');
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
  const second = await dashboard.addMember(space, 'owner');
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
    const others = [await dashboard.addMember(space, 'owner'), await dashboard.addMember(space, 'owner')];
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

test('an output that does not match its schema is not sent', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const other = await dashboard.addSpace({ role: 'viewer' });
  await dashboard.sql`
    INSERT INTO memberships (space_id, user_id, role)
    SELECT ${spaceId}, user_id, 'boss' FROM memberships WHERE space_id = ${other.spaceId}`;
  await expect(client.trpc.members.list.query()).rejects.toMatchObject({
    message: 'An internal error occurred.',
    data: { code: 'INTERNAL_SERVER_ERROR' },
  });
});
