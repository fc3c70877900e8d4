import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRequestsMax } from '../../../../operations/erasure-requests/limits.ts';
import { spacePricesMax } from '../../../../store/prices/prices.ts';
import { openDashboard, type TestDashboard, type TestSpace } from '../../../../test/support/dashboard.ts';
import { rulesMax, targetsMax, testsPerMinuteMax } from '../../alerts/limits.ts';
import { apiKeysMax, spacesOwnedMax } from '../../limits.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

type Trpc = TestSpace['client']['trpc'];

const mail = { name: 'Mail', kind: 'email', address: 'alerts@example.org' } as const;

/** How many there may be, and the call that adds one. */
const limits: [string, number, (trpc: Trpc) => Promise<(i: number) => Promise<unknown>>][] = [
  [
    'test messages',
    testsPerMinuteMax,
    async (trpc) => {
      const { id } = await trpc.alerts.createTarget.mutate(mail);
      return () => trpc.alerts.testTarget.mutate({ id });
    },
  ],
  ['targets', targetsMax, async (trpc) => () => trpc.alerts.createTarget.mutate(mail)],
  ['rules', rulesMax, async (trpc) => () => trpc.alerts.save.mutate({ name: 'r', kind: 'events', bound: 1 })],
  // The space of the test is one of them.
  ['owned spaces', spacesOwnedMax - 1, async (trpc) => () => trpc.spaces.create.mutate({ name: 's' })],
  [
    'erasures',
    openRequestsMax,
    async (trpc) => (i) => trpc.erasures.request.mutate({ kind: 'user', value: `user ${i}` }),
  ],
];

/** Calls all at once. @returns how many succeeded; the others are refused because there are too many. */
async function callAtOnce(
  count: number,
  call: (i: number) => Promise<unknown>,
  code = 'TOO_MANY_REQUESTS',
): Promise<number> {
  const results = await Promise.allSettled(Array.from({ length: count }, (_, i) => call(i)));
  const refused = results.filter(({ status }) => status === 'rejected');
  for (const one of refused) expect(one).toMatchObject({ reason: { data: { code } } });
  return count - refused.length;
}

test.each(limits)('of concurrent calls only so many succeed as there may be %s', async (_, max, prepare) => {
  const { client } = await dashboard.addSpace();
  expect(await callAtOnce(max + 20, await prepare(client.trpc))).toBe(max);
});

test('of concurrent calls only so many succeed as there may be keys, open invitations and prices', async () => {
  const { client, spaceId } = await dashboard.addSpace();
  const { sql } = dashboard;
  const rows = sql`FROM generate_series(1, ${apiKeysMax - 5}) AS n`;
  await sql`INSERT INTO api_keys (space_id, name, hash, last_four)
    SELECT ${spaceId}, 'k', sha256(('limits' || n)::bytea), 'xxxx' ${rows}`;
  expect(await callAtOnce(25, () => client.trpc.apiKeys.create.mutate({ name: 'k' }))).toBe(5);
  await sql`INSERT INTO invitations (space_id, token_hash, email, role, created_by, expires_at)
    SELECT ${spaceId}, sha256(('limits' || n)::bytea), n || '@example.org', 'viewer', 'operator', now() + interval '1 day' ${rows}`;
  const invite = (i: number) =>
    client.trpc.invitations.create.mutate({ email: `late-${i}@example.org`, role: 'viewer' });
  expect(await callAtOnce(25, invite)).toBe(5);
  await sql`INSERT INTO model_prices (space_id, model, valid_from, input, output)
    SELECT ${spaceId}, 'm', current_date - n, 1, 2 FROM generate_series(1, ${spacePricesMax - 5}::integer) AS n`;
  const price = (i: number) => client.trpc.prices.set.mutate({ model: `m-${i}`, input: '1', output: '2' });
  expect(await callAtOnce(25, price, 'PRECONDITION_FAILED')).toBe(5);
});
