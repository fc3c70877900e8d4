import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Actor } from '../../../store/accounts/audit/audit.ts';
import { createSpace } from '../../../store/accounts/spaces.ts';
import { createOwner } from '../../../store/accounts/users.ts';
import { openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';
import { changeMember, type MemberOutcome } from './members.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

interface Change {
  userId: string;
  actor: Actor;
}

const remove = (spaceId: string, change: Change) =>
  changeMember(dashboard.database, spaceId, { ...change, role: undefined });
const demote = (spaceId: string, change: Change) =>
  changeMember(dashboard.database, spaceId, { ...change, role: 'viewer' });

test.each([
  ['removed', remove],
  ['demoted', demote],
] as const)('two owners who are %s by statements that run at the same time leave one', async (_, run) => {
  const { database, sql } = dashboard;
  const { id: spaceId } = await createSpace(database, 'race');
  for (const email of [`a-${spaceId}@example.org`, `b-${spaceId}@example.org`]) {
    await createOwner(database, { email, password: 'my password', spaceId });
  }
  const owners = await sql`SELECT user_id FROM memberships WHERE space_id = ${spaceId}`;
  let changes: Promise<MemberOutcome[]> | undefined;
  // Both statements begin and read both owners before either changes one.
  await sql.begin(async (transaction) => {
    await transaction`SELECT FROM memberships WHERE space_id = ${spaceId} FOR UPDATE`;
    changes = Promise.all(
      owners.map(({ user_id: userId }) => run(spaceId, { userId, actor: { id: userId, address: null } })),
    );
    await expect
      .poll(async () => (await sql`SELECT 1 FROM pg_locks WHERE NOT granted`).length)
      .toBeGreaterThanOrEqual(2);
  });
  expect((await changes)?.toSorted()).toEqual(['changed', 'last_owner']);
  expect(await sql`SELECT 1 FROM memberships WHERE space_id = ${spaceId} AND role = 'owner'`).toHaveLength(1);
});
