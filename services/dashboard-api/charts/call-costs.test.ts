import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { million, type PricedCall, pricedCalls, usage } from '../../../harness/fixtures/priced-calls.ts';
import { issueApiKey } from '../../../store/accounts/api-keys.ts';
import { formatCost, unitsOfCost } from '../../../store/prices/decimal.ts';
import { foldStatistics } from '../../../store/write/statistics/fold.ts';
import { dashboardPepper, openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';
import { measure } from '../alerts/evaluation.ts';
import { readSeries } from '../alerts/read-series.ts';

/** What a call costs, in each place that shows costs, at the prices of the list that comes with Weir. */

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const dayMs = 24 * 3_600_000;
const startTimeMs = Date.UTC(2026, 2, 1, 12);
const range = { from: startTimeMs - 2 * dayMs, to: startTimeMs + 2 * dayMs, step: 'day' } as const;
const traceId = randomUUID();

const sumOf = (costs: readonly (string | null)[]) =>
  formatCost(costs.reduce((sum, cost) => sum + (cost === null ? 0n : unitsOfCost(cost)), 0n));

/** Stores calls, each of a thread and a user of its own, and reads the sum of their costs in each place. */
async function store(calls: readonly PricedCall[], timeOf: (place: number) => number = () => startTimeMs) {
  const { spaceId, client } = await dashboard.addSpace();
  const events = calls.map((call, place) =>
    llmEvent({
      ...{ startTimeMs: timeOf(place), endTimeMs: timeOf(place), durationMs: 0 },
      context: { threadId: `thread-${place % 50}`, userId: 'user', agentId: 'agent' },
      ...{ traceId, additionalProperties: { all: 'yes' } },
      properties: { llm: call },
    }),
  );
  await insertParts(dashboard.database, [partOf(spaceId, events)]);
  const { trpc } = client;
  const costs = async () => {
    const first = await trpc.events.list.query({ limit: 200 });
    const { nextCursor: cursor } = first;
    const further = cursor === null ? [] : (await trpc.events.list.query({ limit: 200, cursor })).events;
    const listed = [...first.events, ...further];
    const byId = new Map(listed.map(({ id, cost }) => [id, cost]));
    const threads = await trpc.threads.list.query({ limit: 50 });
    const user = (await trpc.users.list.query({ limit: 50 })).items[0];
    const chart = await trpc.charts.costs.query(range);
    return {
      each: events.map(({ id }) => byId.get(String(id))),
      threads: new Map(threads.items.map(({ id, cost }) => [id, cost.cost])),
      user: user?.cost,
      chart: chart.total,
      models: sumOf(chart.models.map(({ cost }) => cost)),
      kinds: sumOf(chart.kinds.flatMap(({ points }) => points.map(({ cost }) => cost))),
      kindsOfModels: sumOf(chart.models.flatMap(({ kinds }) => kinds.map(({ cost }) => cost))),
    };
  };
  return { spaceId, client, trpc, events, costs };
}

/** The costs of all events of a space in the places that show neither statistics nor threads. */
async function readElsewhere({
  spaceId,
  client,
}: Pick<Awaited<ReturnType<typeof store>>, 'spaceId' | 'client'>) {
  const { database, url } = dashboard;
  const { events } = await client.trpc.traces.get.query({ traceId });
  const headers = { cookie: client.cookie ?? '' };
  const exported = await fetch(`${url}/export/${spaceId}?format=ndjson`, { headers });
  // The last line counts the others.
  const lines = (await exported.text()).trim().split('\n').slice(0, -1);
  const own = { name: 'mcp', pepper: dashboardPepper, scope: 'events' as const };
  const { apiKey } = await issueApiKey(database, spaceId, own);
  await using mcp = await connectMcp(apiKey);
  const answer = await mcp.client.callTool({
    name: 'get_costs',
    arguments: { ...range, from: new Date(range.from).toISOString(), to: new Date(range.to).toISOString() },
  });
  const alerts = await Promise.all(
    [{}, { attributeKey: 'all', attributeValue: 'yes' }].map(async (filter) => {
      const window = { startMs: range.from, endMs: range.to, stepMs: 3_600_000 };
      const { buckets } = await readSeries(database, spaceId, { rule: { kind: 'cost', filter }, ...window });
      return measure({ kind: 'cost' }, buckets).cost?.cost;
    }),
  );
  const { data } = answer.structuredContent as { data: { total: { cost: string } } };
  return {
    exact: {
      trace: sumOf(events.map(({ cost }) => cost)),
      export: sumOf(lines.map((line) => JSON.parse(line).cost)),
      mcp: data.total.cost,
    },
    alerts,
  };
}

async function connectMcp(apiKey: string) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${dashboard.url}/mcp`), { requestInit }));
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

test('a call costs the same in a list, a thread, a user and a chart, and is found by it', async () => {
  const { trpc, events, costs } = await store(pricedCalls.map(([, call]) => call));
  const expected = pricedCalls.map(([, , cost]) => cost);
  for (const step of ['before', 'after folding']) {
    const { each, threads, user, chart, ...split } = await costs();
    pricedCalls.forEach(([name, , cost], place) => {
      expect(each[place], name).toBe(cost);
      expect(threads.get(`thread-${place}`), name).toBe(cost);
    });
    expect(user?.cost, step).toBe(sumOf(expected));
    expect(chart, step).toEqual(user);
    for (const sum of Object.values(split)) expect(sum, step).toBe(sumOf(expected));
    while ((await foldStatistics(dashboard.database)) > 0);
  }
  for (const [place, cost] of expected.entries()) {
    const whole = await trpc.events.get.query({ id: String(events[place]?.id) });
    const { reported, priced, lines = [] } = whole.costReason ?? {};
    expect([whole.cost, reported ?? priced], pricedCalls[place]?.[0]).toEqual([cost, cost]);
    expect(priced, pricedCalls[place]?.[0]).toBe(
      priced === null ? null : sumOf(lines.map((one) => one.cost)),
    );
    if (cost === null) continue;
    const find = async (operator: '>=' | '>') => {
      const comparisons = [{ measure: 'cost' as const, operator, value: Number(cost) }];
      const from = startTimeMs - 3_600_000;
      const page = await trpc.events.list.query({ comparisons, from, to: startTimeMs + 1, limit: 200 });
      return page.events.map(({ id }) => id).includes(String(events[place]?.id));
    };
    expect([await find('>='), await find('>')], pricedCalls[place]?.[0]).toEqual([true, false]);
  }
});

test('the sum of the costs of many is exact: at any usage, tiers, reported costs and changes of prices', async () => {
  const tokens = fc.integer({ min: -10, max: 400_000 });
  const call = fc.record({
    model: fc.constantFrom('gpt-5.5', 'claude-opus-4-8', 'own', 'unknown'),
    usage: fc.record(
      {
        inputTokens: tokens,
        outputTokens: tokens,
        inputTokenDetails: fc.record(
          {
            cacheReadTokens: tokens,
            cacheWriteTokens: tokens,
            cacheWriteHourTokens: tokens,
            audioTokens: tokens,
          },
          { requiredKeys: [] },
        ),
        outputTokenDetails: fc.record({ reasoningTokens: tokens, audioTokens: tokens }, { requiredKeys: [] }),
        webSearches: fc.nat(3),
      },
      { requiredKeys: [] },
    ),
    serviceTier: fc.constantFrom('default', 'priority', 'flex', 'batch', 'fast'),
    region: fc.constantFrom('us', 'global'),
    cost: fc.constantFrom(
      undefined,
      undefined,
      { total: 0.1, currency: 'USD' },
      { total: 3e-12, currency: 'USD' },
    ),
  });
  const [calls = []] = fc.sample(fc.array(call, { minLength: 300, maxLength: 300 }), {
    numRuns: 1,
    seed: 20_261_127,
  });
  const sent: PricedCall[] = JSON.parse(JSON.stringify(calls));
  const days = (place: number) => startTimeMs + ((place % 3) - 1) * dayMs;
  const { trpc, costs, ...space } = await store(sent, days);
  await trpc.prices.set.mutate({
    model: 'own',
    input: '0.1',
    output: '0.3',
    rates: { 'input batch': '0.05', audioInput: '7' },
  });
  await trpc.prices.set.mutate({
    model: 'own',
    validFrom: '2026-03-01',
    input: '0.000001',
    output: '0.2',
    cacheRead: '0.07',
  });
  for (const step of ['before', 'after folding']) {
    const { each, threads, user, chart, ...split } = await costs();
    const sum = sumOf(each.map((cost) => cost ?? null));
    expect(sumOf([...threads.values()]), step).toBe(sum);
    expect(user?.cost, step).toBe(sum);
    expect(chart, step).toEqual(user);
    for (const one of Object.values(split)) expect(one, step).toBe(sum);
    const { exact, alerts } = await readElsewhere(space);
    expect(exact, step).toEqual({ trace: sum, export: sum, mcp: sum });
    expect(alerts, step).toEqual([sum, sum]);
    const known = each.flatMap((cost) => (cost == null ? [] : Number(cost))).toSorted((a, b) => b - a);
    const top = await trpc.events.top.query({ by: 'cost', limit: 20 });
    expect(
      top.events.map(({ cost }) => Number(cost)),
      step,
    ).toEqual(known.slice(0, 20));
    for (const bound of [known[150] ?? 0, known[10] ?? 0]) {
      const comparisons = [{ measure: 'cost' as const, operator: '>=' as const, value: bound }];
      const found = await trpc.events.list.query({ comparisons, from: range.from, to: range.to, limit: 200 });
      expect(found.events.length, step).toBe(known.filter((cost) => cost >= bound).length);
    }
    while ((await foldStatistics(dashboard.database)) > 0);
  }
});

test('an event says how its cost came about, and where it doubts', async () => {
  const calls: PricedCall[] = [
    {
      model: 'openai/gpt-5.5:nitro',
      usage: usage(300_000, 10, { cacheReadTokens: 100_000 }),
      serviceTier: 'batch',
    },
    { model: 'own', usage: usage(100, 10, { audioTokens: 40 }), serviceTier: 'batch' },
    { model: 'gpt-4o', usage: usage(million, 0), cost: { total: 2.52, currency: 'USD' } },
    { model: 'gpt-4o', usage: usage(million, 0), cost: { total: 2.53, currency: 'USD' } },
    { model: 'gpt-4o', usage: usage(100, 0, { audioTokens: 200 }) },
    { model: 'unknown', usage: { ...usage(7, 2), webSearches: 1 } },
  ];
  const { trpc, events } = await store(calls);
  await trpc.prices.set.mutate({ model: 'own', validFrom: '2026-02-01', input: '2', output: '4' });
  const [long, own, near, far, contradictory, unknown] = await Promise.all(
    events.map(({ id }) => trpc.events.get.query({ id: String(id) })),
  );
  const line = { bound: 'exact', tier: null, inputAbove: null };
  const conditions = { tier: 'batch', inputAbove: 272_000 };
  expect(long).toMatchObject({ cost: '1.050225', costBound: 'exact', flags: [] });
  expect(long?.costReason).toEqual({
    reported: null,
    priced: long?.cost,
    bound: 'exact',
    ...{ ...conditions, region: null },
    price: {
      origin: 'list',
      model: 'gpt-5.5',
      validFrom: '1970-01-01',
      list: { source: expect.stringContaining('LiteLLM'), day: expect.any(String) },
    },
    lines: [
      { ...line, ...conditions, kind: 'input', count: 200_000, price: '5', cost: '1' },
      { ...line, ...conditions, kind: 'output', count: 10, price: '22.5', cost: '0.000225' },
      { ...line, ...conditions, kind: 'cacheRead', count: 100_000, price: '0.5', cost: '0.05' },
    ],
  });
  expect(own).toMatchObject({
    ...{ cost: '0.00024', costBound: 'about' },
    costReason: {
      price: { origin: 'space', model: 'own', validFrom: '2026-02-01', list: null },
      tier: 'batch',
      lines: [
        { ...line, kind: 'input', count: 60, price: '2', cost: '0.00012', bound: 'at_most' },
        { ...line, kind: 'output', count: 10, price: '4', cost: '0.00004', bound: 'at_most' },
        { ...line, kind: 'audioInput', count: 40, price: '2', cost: '0.00008', bound: 'about' },
      ],
    },
  });
  const reported = { reported: '2.52', priced: '2.5', lines: [{ ...line, kind: 'input', cost: '2.5' }] };
  expect(near).toMatchObject({ cost: '2.52', costBound: 'exact', flags: [], costReason: reported });
  expect(far).toMatchObject({ cost: '2.53', flags: ['cost_mismatch'] });
  expect(contradictory).toMatchObject({ costBound: 'about', flags: ['contradictory_usage'] });
  expect(unknown?.costReason).toMatchObject({
    ...{ reported: null, priced: null, price: null, bound: 'at_least' },
    lines: [
      { kind: 'input', count: 7, price: null, cost: null },
      { kind: 'output', count: 2, price: null, cost: null },
      { kind: 'webSearches', count: 1, price: null, cost: null },
    ],
  });
});
