import { afterAll, beforeAll, expect, test } from 'vitest';
import { monthOf } from '../../../store/accounts/month.ts';
import { createSpace } from '../../../store/accounts/spaces.ts';
import { createOwner } from '../../../store/accounts/users.ts';
import { addEvents, openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test('a user of several spaces must name one in each call', async () => {
  const { spaceId, email, password, client } = await dashboard.addSpace();
  const second = await createSpace(dashboard.database, 'second');
  await createOwner(dashboard.database, { email, password, spaceId: second.id });
  await client.trpc.auth.signIn.mutate({ email, password });
  const me = await client.trpc.me.query();
  expect(me.currentSpaceId).toBeNull();
  expect(me.spaces.map(({ id }) => id)).toEqual([spaceId, second.id]);
  await addEvents(dashboard.sql, second.id, [{}]);
  await expect(client.trpc.events.list.query()).rejects.toMatchObject({ data: { code: 'BAD_REQUEST' } });
  expect((await client.trpc.events.list.query({ spaceId })).events).toHaveLength(0);
  expect((await client.trpc.events.list.query({ spaceId: second.id })).events).toHaveLength(1);
});

test('a user without a space can be signed in and sees no data', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  await dashboard.sql`DELETE FROM memberships WHERE space_id = ${spaceId}`;
  expect(await client.trpc.me.query()).toMatchObject({ spaces: [], currentSpaceId: null });
  await expect(client.trpc.usage.current.query()).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } });
});

test('a viewer can read events and usage', async () => {
  const { client } = await dashboard.addSpace({ role: 'viewer' });
  expect((await client.trpc.me.query()).spaces).toMatchObject([{ role: 'viewer' }]);
  await client.trpc.events.list.query();
  await client.trpc.usage.current.query();
});

test('usage has the events stored this month, the limit, and the billing state', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const month = monthOf(Date.now());
  expect(await client.trpc.usage.current.query()).toMatchObject({
    spaceId,
    month,
    events: 0,
    monthlyEventLimit: null,
    billingState: 'active',
    resetsAt: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00.000Z$/),
  });
  await dashboard.sql`INSERT INTO usage_months VALUES (${spaceId}, ${month}, 41), (${spaceId}, '2001-01', 7)`;
  await dashboard.sql`
    UPDATE spaces SET monthly_event_limit = 9007199254740991, billing_state = 'inactive' WHERE id = ${spaceId}`;
  expect(await client.trpc.usage.current.query()).toMatchObject({
    events: 41,
    monthlyEventLimit: 9007199254740991,
    billingState: 'inactive',
  });
});
