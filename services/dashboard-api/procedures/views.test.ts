import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memberships, views as viewsTable } from '../../../store/db/schema.ts';
import { viewsOfSpaceMax, viewsOfUserMax } from '../../../store/views.ts';
import { openDashboard, type TestDashboard, type TestSpace } from '../../../test/support/dashboard.ts';

let dashboard: TestDashboard;
let space: TestSpace;
beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

type Client = TestSpace['client'];
const address = '?last=7d&not.name=gpt-4o&not.name=gpt-4.1&attr.plan=pro+%26+more&sort=cost';
const events = { list: 'events', name: 'errors', address } as const;
const save = ({ trpc }: Client, view: object = {}) =>
  trpc.views.save.mutate({ spaceId: space.spaceId, ...events, ...view });
const listed = async ({ trpc }: Client) => {
  const found = await trpc.views.list.query({ spaceId: space.spaceId });
  return found.map(({ id: _, ...view }) => view);
};
const failing = (code: string) => ({ data: { code } });

test('a view is saved by name, for oneself or for the space, and each sees the own and the space’s', async () => {
  const member = await dashboard.addMember(space, 'member');
  const { id } = await save(space.client);
  await save(space.client, { list: 'threads', address: '' });
  await save(member.client, { name: ' Ours ', isOfSpace: true });
  const ours = { ...events, name: 'Ours', isOfSpace: true };
  const own = { ...events, isOfSpace: false };
  expect(await listed(member.client)).toEqual([ours]);
  expect(await listed(space.client)).toEqual([own, { ...own, list: 'threads', address: '' }, ours]);
  // Saved again it is replaced, and another's view of the same name is not.
  await save(member.client);
  expect(await save(space.client, { address: '?state=error' })).toEqual({ id });
  expect(await listed(space.client)).toContainEqual({ ...own, address: '?state=error' });
  expect(await listed(member.client)).toEqual([own, ours]);
});

test('views are renamed and removed by their owner; those of the space by members', async () => {
  const [viewer, other] = [
    await dashboard.addMember(space, 'viewer'),
    await dashboard.addMember(space, 'member'),
  ];
  const { spaceId } = space;
  const own = await save(viewer.client, { name: 'mine' });
  const { id } = await save(other.client, { name: 'shared', isOfSpace: true });
  await expect(save(viewer.client, { isOfSpace: true })).rejects.toMatchObject(failing('FORBIDDEN'));
  const missing = failing('NOT_FOUND');
  await expect(viewer.client.trpc.views.rename.mutate({ spaceId, id, name: 'a' })).rejects.toMatchObject(
    missing,
  );
  await expect(viewer.client.trpc.views.remove.mutate({ spaceId, id })).rejects.toMatchObject(missing);
  // Not even an owner of the space.
  await expect(space.client.trpc.views.remove.mutate({ spaceId, ...own })).rejects.toMatchObject(missing);
  await save(viewer.client, { name: 'taken' });
  const rename = (name: string) => viewer.client.trpc.views.rename.mutate({ spaceId, ...own, name });
  await expect(rename('taken')).rejects.toMatchObject(failing('CONFLICT'));
  await rename('shared');
  await space.client.trpc.views.rename.mutate({ spaceId, id, name: 'of all' });
  const names = (await listed(viewer.client)).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['shared', 'taken', 'of all']));
  await other.client.trpc.views.remove.mutate({ spaceId, id });
  await viewer.client.trpc.views.remove.mutate({ spaceId, ...own });
  const { rows } = await space.client.trpc.audit.list.query({ limit: 20 });
  const actions = rows.filter(({ target }) => target === id).map(({ action }) => action);
  expect(actions).toEqual(['view.remove', 'view.rename', 'view.save']);
});

test('views go with their member', async () => {
  const member = await dashboard.addMember(space, 'viewer');
  await save(member.client);
  const isOf = and(eq(viewsTable.spaceId, space.spaceId), eq(viewsTable.userId, member.userId));
  expect(await dashboard.database.$count(viewsTable, isOf)).toBe(1);
  await dashboard.database.delete(memberships).where(eq(memberships.userId, member.userId));
  expect(await dashboard.database.$count(viewsTable, isOf)).toBe(0);
});

test('what no list writes as its address is refused with its reason', async () => {
  const refused = async (view: object) => save(space.client, view).catch((error: Error) => error.message);
  const notAddress = 'address: must be the search part of an address';
  expect(await refused({ address: 'state=error' })).toMatch(notAddress);
  expect(await refused({ address: '?state=a b' })).toMatch(notAddress);
  expect(await refused({ address: '?state=%zz' })).toMatch(notAddress);
  expect(await refused({ address: '?not.name=a\u001fb' })).toMatch(notAddress);
  expect(await refused({ address: 'https://example.org/' })).toMatch(notAddress);
  expect(await refused({ address: `?text=${'x'.repeat(4_000)}` })).toMatch(/^address: /);
  expect(await refused({ name: '   ' })).toMatch(/^name: /);
  expect(await refused({ name: 'x'.repeat(81) })).toMatch(/^name: /);
  expect(await refused({ name: 'a\nb' })).toMatch('must not have control characters');
  expect(await refused({ list: 'live' })).toMatch(/^list: /);
});

test.each([
  [false, viewsOfUserMax],
  [true, viewsOfSpaceMax],
])('a full owner replaces views only (of the space: %s)', async (isOfSpace, max) => {
  const full = await dashboard.addSpace();
  const { trpc } = full.client;
  const { user } = await trpc.me.query();
  const rows = Array.from({ length: max }, (_, place) => ({
    ...{ ...events, spaceId: full.spaceId, id: randomUUID(), name: `v${place}` },
    userId: isOfSpace ? null : user.id,
  }));
  await dashboard.database.insert(viewsTable).values(rows);
  const add = (name: string) => trpc.views.save.mutate({ ...events, name, isOfSpace });
  await expect(add('one more')).rejects.toMatchObject({
    ...failing('PRECONDITION_FAILED'),
    message: expect.stringContaining(`${max} views`),
  });
  expect(await add('v0')).toEqual({ id: rows[0]?.id });
  // The other owner is not full.
  await trpc.views.save.mutate({ ...events, isOfSpace: !isOfSpace });
});
