import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { operator } from '../../../store/accounts/audit/audit.ts';
import { importListPrices } from '../../../store/prices/list-prices.ts';
import { setPrice, spacePricesMax } from '../../../store/prices/prices.ts';
import { openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const from = Date.UTC(2026, 2, 1);
const dayMs = 24 * 3_600_000;

interface Used {
  model: string;
  startTimeMs: number;
  input: number;
  cached?: number;
  written?: number;
  output: number;
  cost?: number;
}

async function use(spaceId: string, used: readonly Used[]): Promise<void> {
  const events = used.map(({ model, startTimeMs, input, cached, written, output, cost }) => {
    const inputTokenDetails = { cacheReadTokens: cached ?? 0, cacheWriteTokens: written ?? 0 };
    const usage = { inputTokens: input, outputTokens: output, inputTokenDetails };
    const reported = cost === undefined ? {} : { cost: { total: cost, currency: 'USD' } };
    return llmEvent({ startTimeMs, properties: { llm: { model, usage, ...reported } } });
  });
  await insertParts(dashboard.database, [partOf(spaceId, events)]);
}

const tokenPrices = { model: 'm', validFrom: '1970-01-01', cacheRead: null, cacheWrite: null, rates: {} };

test('costs are exact, follow price changes by day, and state the share of priced tokens', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const { trpc } = client;
  await use(spaceId, [
    // The price changes in the middle of a day in Zurich.
    { model: 'm', startTimeMs: from - 60_000, input: 3, output: 1 },
    { model: 'm', startTimeMs: from, input: 1_000_001, cached: 1, written: 2, output: 7 },
    { model: 'unpriced', startTimeMs: from, input: 5, output: 5 },
  ]);
  const range = { from: from - dayMs, to: from + dayMs, step: 'day', timeZone: 'Europe/Zurich' } as const;
  expect(await trpc.charts.costs.query(range)).toMatchObject({
    total: { cost: null, pricedTokens: 0, tokens: 1_000_022 },
  });
  await trpc.prices.set.mutate({ ...tokenPrices, input: '0.1', output: '0.3' });
  await trpc.prices.set.mutate({
    ...{ ...tokenPrices, validFrom: '2026-03-01' },
    input: '0.2',
    output: '0.000001',
    cacheRead: '0.02',
  });
  const costs = await trpc.charts.costs.query(range);
  // 3 × 0.1 + 1 × 0.3, and 999,998 × 0.2 + 1 × 0.02 + 7 × 0.000001, each for a million. The 2 tokens written
  // to the cache have no price of their own: they cost 0.2 like input.
  expect(costs.models).toMatchObject([
    {
      model: 'm',
      cost: '0.200000620007',
      pricedTokens: 4 + 999_998 + 1 + 2 + 7,
      tokens: 1_000_012,
      points: [{ bucket: 1 }],
    },
    { model: 'unpriced', cost: null, pricedTokens: 0, tokens: 10 },
  ]);
  const others = { listPricedTokens: 0, reportedTokens: 0, assumedTokens: 0 };
  expect(costs.total).toEqual({
    cost: '0.200000620007',
    bound: 'at_least',
    pricedTokens: 1_000_012,
    ...others,
    tokens: 1_000_022,
  });
  expect(costs.starts.length).toBe(3);
});

test('models without a price of their own cost the list price of their day, and the share of it is stated', async () => {
  const [space, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const { trpc } = space.client;
  const listed = `listed-${randomUUID()}`;
  const model = `openrouter/house/${listed}-2026-02-01`;
  const list = (day: string, input: string) => ({
    source: 'a list',
    day,
    prices: [{ model: listed, input, output: '0', cacheRead: '0.5', cacheWrite: null, rates: {} }],
  });
  await importListPrices(dashboard.database, list('2026-01-01', '1'));
  await importListPrices(dashboard.database, list('2026-03-01', '2'));
  for (const { spaceId } of [space, other]) {
    await use(spaceId, [
      { model, startTimeMs: from - 60_000, input: 1_000_000, output: 0 },
      { model, startTimeMs: from, input: 1_000_000, cached: 500_000, output: 0 },
      { model: 'unpriced', startTimeMs: from, input: 7, output: 0 },
    ]);
  }
  const range = { from: from - dayMs, to: from + dayMs, step: 'day' } as const;
  // 1, and half of 2 plus half of 0.5.
  const priced = { pricedTokens: 2_000_000, listPricedTokens: 2_000_000, tokens: 2_000_007 };
  const total = { cost: '2.25', bound: 'at_least', ...priced, reportedTokens: 0, assumedTokens: 0 };
  expect((await trpc.charts.costs.query(range)).total).toEqual(total);
  // A price of the space wins from its first day on; before it, the list price holds.
  await trpc.prices.set.mutate({ ...tokenPrices, model, input: '10', output: '0', validFrom: '2026-03-01' });
  expect((await trpc.charts.costs.query(range)).total).toEqual({
    ...total,
    cost: '11',
    listPricedTokens: 1_000_000,
  });
  expect((await other.client.trpc.charts.costs.query(range)).total).toEqual(total);
});

test('the cost of many calls is the sum of their costs, whatever the senders count', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const { trpc } = client;
  const model = `m-${randomUUID()}`;
  await trpc.prices.set.mutate({ ...tokenPrices, model, input: '3', output: '15', cacheRead: '0.3' });
  const usages = [
    // Anthropic counts cached tokens beside the input.
    { inputTokens: 5, inputTokenDetails: { cacheReadTokens: 100_000 } },
    { inputTokens: 100_000, outputTokens: 0 },
    { inputTokens: -90_000, outputTokens: 1 },
    { inputTokens: 0.4, outputTokens: 0.4 },
    { inputTokens: 0.4, outputTokens: 2.6, outputTokenDetails: { reasoningTokens: 7 } },
  ];
  const context = { threadId: 't', userId: 'u' };
  const events = usages.map((usage) =>
    llmEvent({ startTimeMs: from, context, properties: { llm: { model, usage } } }),
  );
  await insertParts(dashboard.database, [partOf(spaceId, events)]);
  const range = { from: from - dayMs, to: from + dayMs };
  const { events: listed } = await trpc.events.list.query(range);
  const sum = listed.reduce((total, { cost }) => total + Math.round(Number(cost) * 1e9), 0);
  const total = '0.33018';
  expect(sum).toBe(330_180_000);
  expect((await trpc.charts.costs.query({ ...range, step: 'day' })).total.cost).toBe(total);
  expect((await trpc.threads.get.query({ threadId: 't' })).cost.cost).toBe(total);
  expect((await trpc.users.get.query({ userId: 'u' })).cost.cost).toBe(total);
});

test('the models in use are listed with the price that applies to each', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const now = Date.now();
  const [own, unpriced] = [`own-${randomUUID()}`, `unpriced-${randomUUID()}`];
  await use(spaceId, [
    { model: own, startTimeMs: now, input: 1, output: 1 },
    { model: unpriced, startTimeMs: now, input: 2, output: 1 },
    { model: 'models/gpt-4o-2024-08-06', startTimeMs: now, input: 3, output: 1 },
    { model: 'long ago', startTimeMs: now - 40 * dayMs, input: 3, output: 1 },
    // 0.0000175 at the price.
    { model: 'models/gpt-4o-2024-08-06', startTimeMs: now, input: 3, output: 1, cost: 0.0000176 },
    { model: 'models/gpt-4o-2024-08-06', startTimeMs: now, input: 1, output: 1, cost: 0.01 },
    { model: unpriced, startTimeMs: now, input: 0, output: 0, cost: 0.01 },
  ]);
  await client.trpc.prices.set.mutate({ ...tokenPrices, model: own, input: '1', output: '2.50' });
  const models = await client.trpc.prices.models.query();
  const none = { compared: 0, differing: 0 };
  expect(models).toHaveLength(3);
  expect(models).toEqual(
    expect.arrayContaining([
      {
        model: own,
        tokens: 2,
        price: {
          ...{ origin: 'space', model: own, validFrom: '1970-01-01' },
          input: '1',
          output: '2.50',
          cacheRead: null,
          cacheWrite: null,
          rates: {},
          list: null,
        },
        reported: none,
      },
      { model: unpriced, tokens: 3, price: null, reported: none },
      {
        model: 'models/gpt-4o-2024-08-06',
        tokens: 10,
        price: expect.objectContaining({
          origin: 'list',
          model: 'gpt-4o',
          list: {
            source: expect.stringContaining('LiteLLM'),
            day: expect.stringMatching(/^2026-/),
          },
        }),
        reported: { compared: 2, differing: 1 },
      },
    ]),
  );
});

test("a space's own price replaces the operator's, and is invisible to other spaces", async () => {
  const [space, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const model = `model-${randomUUID()}`;
  const price = { ...tokenPrices, model, output: '0' };
  await setPrice(dashboard.database, { spaceId: null, actor: operator }, { ...price, input: '1' });
  await space.client.trpc.prices.set.mutate({ ...price, input: '5' });
  for (const { spaceId } of [space, other]) {
    await use(spaceId, [{ model, startTimeMs: from, input: 1_000_000, output: 0 }]);
  }
  const range = { from, to: from + 1, step: 'hour' } as const;
  const costOf = async ({ client }: typeof space) =>
    (await client.trpc.charts.costs.query(range)).models.find((one) => one.model === model)?.cost;
  expect([await costOf(space), await costOf(other)]).toEqual(['5', '1']);
  expect((await other.client.trpc.prices.list.query()).filter((one) => one.model === model)).toMatchObject([
    { spaceId: null, input: '1' },
  ]);
  await space.client.trpc.prices.remove.mutate({ model });
  expect(await costOf(space)).toBe('1');
  await expect(space.client.trpc.prices.remove.mutate({ model })).rejects.toMatchObject({
    data: { code: 'NOT_FOUND' },
  });
});

test('only an owner changes prices, and each change is in the audit log of the space', async () => {
  const space = await dashboard.addSpace({ role: 'admin' });
  const price = { ...tokenPrices, input: '1', output: '2.50' };
  await expect(space.client.trpc.prices.set.mutate(price)).rejects.toMatchObject({
    data: { code: 'FORBIDDEN' },
  });
  await dashboard.sql`UPDATE memberships SET role = 'owner' WHERE space_id = ${space.spaceId}`;
  await space.client.trpc.prices.set.mutate(price);
  await space.client.trpc.prices.remove.mutate({ model: 'm' });
  const { user } = await space.client.trpc.me.query();
  const rows = await dashboard.sql`
    SELECT actor, action, details FROM audit_log WHERE space_id = ${space.spaceId} AND action LIKE 'price.%' ORDER BY id`;
  expect(rows).toEqual([
    { actor: user.id, action: 'price.set', details: price },
    { actor: user.id, action: 'price.remove', details: { model: 'm', validFrom: '1970-01-01' } },
  ]);
});

test('a space has a bounded number of prices, and those that it has can be replaced', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  await dashboard.sql`INSERT INTO model_prices (space_id, model, valid_from, input, output)
    SELECT ${spaceId}, 'm', date '1970-01-01' + day, 1, 1 FROM generate_series(0, ${spacePricesMax - 1}) AS day`;
  const price = { ...tokenPrices, input: '2', output: '1' };
  await client.trpc.prices.remove.mutate({ model: 'm', validFrom: '1970-01-02' });
  // Of simultaneous calls as many succeed as there is room for.
  const set = await Promise.allSettled(
    Array.from({ length: 8 }, (_, n) => client.trpc.prices.set.mutate({ ...price, model: `n${n}` })),
  );
  expect(set.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(client.trpc.prices.set.mutate({ ...price, model: 'another' })).rejects.toMatchObject({
    data: { code: 'PRECONDITION_FAILED' },
  });
  await client.trpc.prices.set.mutate(price);
  const all = await client.trpc.prices.list.query();
  expect(all.filter((one) => one.spaceId === spaceId)).toHaveLength(spacePricesMax);
  expect(all.find((one) => one.input === '2')).toMatchObject({ model: 'm', validFrom: '1970-01-01' });
});

test.each([
  ['timeZone', { timeZone: 'Mars/Olympus' }],
  ['to', { to: from }],
  ['to', { to: from + 365 * dayMs }],
  ['from', { from: -1 }],
  ['agentId', { agentId: 'a', source: 's' }],
])('a chart with an invalid %s is rejected, with its name', async (field, changes) => {
  const { client } = await dashboard.addSpace();
  const range = { from, to: from + 1, step: 'hour' as const, ...changes };
  await expect(client.trpc.charts.events.query(range)).rejects.toMatchObject({
    message: expect.stringMatching(`^${field}: `),
    data: { code: 'BAD_REQUEST' },
  });
});

test.each([{ groupBy: 'agent' as const }, { agentId: 'a' }])(
  'a chart by agent needs no dimension, also when the call names its space (%j)',
  async (sliced) => {
    const { client, spaceId } = await dashboard.addSpace();
    const range = { spaceId, from, to: from + 1, step: 'hour' as const };
    expect((await client.trpc.charts.events.query({ ...range, ...sliced })).series).toEqual([]);
  },
);
