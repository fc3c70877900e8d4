import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { columnCharsMax } from '../../../event/limits.ts';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import {
  addEvents,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';
import { until } from '../../../test/support/wait.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

type ListInput = Parameters<TestSpace['client']['trpc']['events']['list']['query']>[0];

/** The ids of all pages, following nextCursor. */
async function walk({ client }: TestSpace, input: ListInput): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof client.trpc.events.list.query>> =
      await client.trpc.events.list.query({ ...input, ...(cursor === null ? {} : { cursor }) });
    ids.push(...page.events.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}

test('pages of any size show each event once, newest first, also when start times are equal', async () => {
  const space = await dashboard.addSpace();
  const events = Array.from({ length: 60 }, (_, i) => ({
    id: randomUUID(),
    startTimeMs: [5, 5.5, -3, 1e15, 5][i % 5] ?? 0,
  }));
  await addEvents(dashboard.sql, space.spaceId, events);
  const expected = events
    .sort((a, b) => b.startTimeMs - a.startTimeMs || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 61 }), async (limit) => {
      expect(await walk(space, { limit })).toEqual(expected);
    }),
    { numRuns: 8, examples: [[1], [59], [60], [61]] },
  );
});

test('an event that arrives between two pages neither hides nor repeats another one', async () => {
  const space = await dashboard.addSpace();
  const old = await addEvents(
    dashboard.sql,
    space.spaceId,
    [10, 20, 30, 40].map((startTimeMs) => ({ startTimeMs })),
  );
  const first = await space.client.trpc.events.list.query({ limit: 2 });
  await addEvents(dashboard.sql, space.spaceId, [{ startTimeMs: 50 }, { startTimeMs: 35 }]);
  const second = await space.client.trpc.events.list.query({ limit: 2, cursor: first.nextCursor ?? '' });
  expect([...first.events, ...second.events].map(({ id }) => id)).toEqual(old.toReversed());
});

test('a list shows the columns, and flags contradictory times', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const traceId = randomUUID();
  const event = { type: 'tool', state: 'error', name: 'grep', threadId: 't', userId: 'u', traceId } as const;
  await addEvents(dashboard.sql, spaceId, [
    { ...event, startTimeMs: 100, endTimeMs: 50, durationMs: 7, inputPreview: 'what' },
  ]);
  const { events, nextCursor } = await client.trpc.events.list.query();
  expect(nextCursor).toBeNull();
  expect(events).toMatchObject([
    {
      ...event,
      startTimeMs: 100,
      endTimeMs: 50,
      durationMs: 7,
      inputPreview: 'what',
      outputPreview: null,
      totalTokens: null,
      receivedAt: '2026-01-02T03:04:05.678Z',
      flags: ['ends_before_start', 'duration_mismatch'],
    },
  ]);
  await addEvents(dashboard.sql, spaceId, [
    { startTimeMs: 200, receivedAt: new Date(-1e6), inputTokens: 1, outputTokens: 2, totalTokens: 4 },
  ]);
  expect((await client.trpc.events.list.query({ limit: 1 })).events).toMatchObject([
    { flags: ['clock_ahead', 'token_sum_mismatch'] },
  ]);
});

const traceId = randomUUID();
const long = 'x'.repeat(columnCharsMax);
const wanted = {
  startTimeMs: 1_000,
  type: 'tool',
  state: 'error',
  name: 'b',
  threadId: 'b',
  userId: 'b',
  source: 'b',
  agentId: 'b',
  agentGroupId: 'b',
  errorCode: '429',
  attributes: { plan: 'pro', seats: 3 },
  durationMs: 1_000,
  outputPreview: '100 % Sure',
} as const;
const unwanted = { startTimeMs: 2_000, type: 'llm', state: 'ok', name: 'a' } as const;

test.each<[string, NonNullable<ListInput>]>([
  ['type', { type: 'tool' }],
  ['state', { state: 'error' }],
  ['name', { name: 'b' }],
  ['threadId', { threadId: 'b' }],
  ['userId', { userId: 'b' }],
  ['source', { source: 'b' }],
  ['agentId', { agentId: 'b' }],
  ['agentGroupId', { agentGroupId: 'b' }],
  ['errorCode', { errorCode: '429' }],
  [
    'attributes',
    {
      attributes: [
        { key: 'plan', value: 'pro' },
        { key: 'seats', value: '3' },
      ],
    },
  ],
  ['minDurationMs', { minDurationMs: 1_000 }],
  ['maxDurationMs and minDurationMs', { minDurationMs: 999.5, maxDurationMs: 1_000 }],
  ['text', { text: '0 % sure' }],
  ['traceId', { traceId: traceId.toUpperCase() }],
  ['to, excluded', { to: 2_000 }],
  ['from, included', { from: 1_000, to: 1_000.5 }],
  [
    'not, of columns and of attributes',
    {
      not: [
        { column: 'name', value: 'a' },
        { column: 'traceId', value: randomUUID() },
        { attribute: 'plan', value: 'free' },
      ],
    },
  ],
  [
    'several at once',
    { type: 'tool', state: 'error', name: 'b', threadId: 'b', traceId, from: 0, to: 1_500 },
  ],
])('the filter %s returns the matching events, on every page', async (_name, filter) => {
  const space = await dashboard.addSpace();
  const matching = Array.from({ length: 3 }, () => ({ ...wanted, traceId }));
  const ids = await addEvents(dashboard.sql, space.spaceId, [unwanted, ...matching, unwanted]);
  expect(await walk(space, { ...filter, limit: 1 })).toEqual(ids.slice(1, 4).sort());
});

test('a page that stopped at the limit of examined events has searchedUntilMs, and the next one continues', async () => {
  const space = await dashboard.addSpace();
  const rows = Array.from({ length: 12_500 }, (_, i) => ({ startTimeMs: i, durationMs: i === 0 ? 7 : 1 }));
  for (let from = 0; from < rows.length; from += 2_500) {
    await addEvents(dashboard.sql, space.spaceId, rows.slice(from, from + 2_500));
  }
  const list = (cursor: object) => space.client.trpc.events.list.query({ minDurationMs: 5, ...cursor });
  const first = await list({});
  expect(first).toMatchObject({ events: [], searchedUntilMs: 500 });
  const second = await list({ cursor: first.nextCursor ?? '' });
  expect(second).toMatchObject({ events: [{ startTimeMs: 0 }], nextCursor: null, searchedUntilMs: null });
});

test('a filter finds texts that are stored truncated or with U+FFFD', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  await addEvents(dashboard.sql, spaceId, [{ threadId: long }, { userId: 'nul\uFFFD' }]);
  expect((await client.trpc.events.list.query({ threadId: `${long}tail` })).events).toHaveLength(1);
  expect((await client.trpc.events.list.query({ userId: 'nul\0' })).events).toHaveLength(1);
});

test('lists, histograms and live reads compare durations, tokens and costs, with the prices that apply', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const { trpc } = client;
  const start = Date.now() - 60_000;
  const call = (model: string, durationMs: number, usage: object) =>
    llmEvent({ startTimeMs: start, durationMs, properties: { llm: { model, usage } } });
  const events = [
    // 0.25 dollars at the list price of gpt-4o; half of its input is cached: 0.1875.
    call('gpt-4o-2024-08-06', 500, { inputTokens: 100_000 }),
    call('gpt-4o', 5_000, {
      inputTokens: 100_000,
      outputTokens: 0,
      inputTokenDetails: { cacheReadTokens: 50_000 },
    }),
    call('house', 20_000, { inputTokens: 60_000, outputTokens: 10 }),
    call('unpriced', 50, { inputTokens: 1_000_000 }),
    call('gpt-4o', 50, {}),
  ];
  const after = (await trpc.live.since.query({})).cursor;
  await insertParts(dashboard.database, [partOf(spaceId, events)]);
  const from = start - 3_600_000;
  type Comparisons = NonNullable<Extract<ListInput, object>['comparisons']>;
  const find = async (...comparisons: Comparisons) => {
    const { events: listed } = await trpc.events.list.query({ comparisons, from });
    const { events: live } = await trpc.live.since.query({ comparisons, after });
    const { buckets } = await trpc.events.histogram.query({ comparisons, from, to: start + 1 });
    const places = (found: { id: string }[]) =>
      found.map(({ id }) => events.findIndex((event) => event.id === id)).toSorted();
    expect(places(live)).toEqual(places(listed));
    expect(buckets.reduce((sum, bucket) => sum + bucket.events, 0)).toBe(listed.length);
    return places(listed);
  };
  expect(await find({ measure: 'duration', operator: '>', value: 500 })).toEqual([1, 2]);
  expect(await find({ measure: 'tokens', operator: '>=', value: 100_000 })).toEqual([0, 1, 3]);
  expect(await find({ measure: 'cost', operator: '>', value: 0.2 })).toEqual([0]);
  await trpc.prices.set.mutate({ model: 'house', input: '10', output: '0' });
  expect(await find({ measure: 'cost', operator: '>', value: 0.2 })).toEqual([0, 2]);
  expect(
    await find(
      { measure: 'cost', operator: '>=', value: 0.1875 },
      { measure: 'cost', operator: '<', value: 0.6 },
    ),
  ).toEqual([0, 1]);
  expect(await find({ measure: 'cost', operator: '>', value: 0.5 })).toEqual([2]);
  const comparisons: Comparisons = [{ measure: 'cost', operator: '>', value: 0.1 }];
  for (const range of [{}, { from: start - 200 * 86_400_000 }]) {
    await expect(trpc.events.list.query({ comparisons, ...range })).rejects.toMatchObject({
      message: expect.stringContaining('Choose a range.'),
      data: { code: 'BAD_REQUEST' },
    });
  }
  // No setting of a price is needed, and other spaces are not seen.
  const other = await dashboard.addSpace();
  expect((await other.client.trpc.events.list.query({ comparisons, from })).events).toEqual([]);
});

test('an opened event has its text as sent, byte for byte', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const text = '{"id" : 12345678901234567890,\n "odd":"\\u0000\\ud800 ü", "n":1.0e0, "deep":[{"a":"]}"}]}';
  const [, id = ''] = await addEvents(dashboard.sql, spaceId, [{}, { text, name: 'm' }, {}]);
  const opened = await client.trpc.events.get.query({ id: id.toUpperCase() });
  expect(opened).toMatchObject({ id, name: 'm', receivedAt: '2026-01-02T03:04:05.678Z', event: text });
  expect(opened).not.toHaveProperty('segmentId');
});

test('neighbours are those in the filtered list, in the thread and in the trace', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const [shared, lone] = [randomUUID(), randomUUID()];
  const ids = await addEvents(dashboard.sql, spaceId, [
    { startTimeMs: 1, name: 'a', threadId: 't', traceId: shared },
    { startTimeMs: 2, name: 'b', threadId: 't' },
    { startTimeMs: 3, name: 'a', threadId: 't', traceId: lone },
    { startTimeMs: 4, name: 'b' },
    { startTimeMs: 5, name: 'a', traceId: shared },
  ]);
  const beside = (newer: number | null, older: number | null) => ({
    newer: newer === null ? null : { id: ids[newer - 1] },
    isNewerCertain: true,
    older: older === null ? null : { id: ids[older - 1] },
    isOlderCertain: true,
  });
  const at = (id: number, filter: object) =>
    client.trpc.events.neighbours.query({ id: ids[id - 1] ?? '', ...filter });
  expect(await at(3, {})).toMatchObject({
    inList: beside(4, 2),
    inThread: beside(null, 2),
    inTrace: beside(null, null),
  });
  expect(await at(3, { name: 'a' })).toMatchObject({ inList: beside(5, 1) });
  expect(await at(2, { name: 'a' })).toMatchObject({ inList: beside(3, 1), inTrace: null });
  expect(await at(4, {})).toMatchObject({ inThread: null, inTrace: null });
  expect(await at(1, {})).toMatchObject({ inTrace: beside(5, null) });
  await expect(at(9, { id: randomUUID() })).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } });
});

test('an event that does not exist is NOT_FOUND', async () => {
  const { client } = await dashboard.addSpace();
  await expect(client.trpc.events.get.query({ id: randomUUID() })).rejects.toMatchObject({
    data: { code: 'NOT_FOUND' },
  });
});

test('get says that an event has expired or was erased, but only to its own space', async () => {
  const [space, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const event = llmEvent();
  const id = String(event.id);
  await insertParts(dashboard.database, [partOf(space.spaceId, [event])]);
  expect(await space.client.trpc.events.get.query({ id })).toMatchObject({ id });
  await dashboard.sql`DELETE FROM events WHERE space_id = ${space.spaceId}`;
  await dashboard.sql`DELETE FROM segments WHERE space_id = ${space.spaceId}`;
  const code = { data: { code: 'NOT_FOUND' } };
  await expect(space.client.trpc.events.get.query({ id })).rejects.toMatchObject({
    message: 'The event was stored, and has expired or was erased.',
    ...code,
  });
  await expect(other.client.trpc.events.get.query({ id })).rejects.toMatchObject({
    message: 'There is no such event.',
    ...code,
  });
});

test('an event that expires while it is being opened is NOT_FOUND; one without its segment is an error', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const [expiring = '', damaged = ''] = await addEvents(dashboard.sql, spaceId, [{}, {}]);
  const session = openPostgres(dashboard.databaseUrl, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 10_000,
  });
  await using _closed = session;
  await session`BEGIN`;
  await session`LOCK TABLE segments IN ACCESS EXCLUSIVE MODE`;
  const opening = expect(client.trpc.events.get.query({ id: expiring })).rejects.toMatchObject({
    data: { code: 'NOT_FOUND' },
  });
  // The call has read the row and waits for the segment.
  await until(async () => (await dashboard.sql`SELECT FROM pg_locks WHERE NOT granted`).length > 0);
  await session`DELETE FROM events WHERE id = ${expiring}`;
  await session`DELETE FROM segments WHERE space_id = ${spaceId}`;
  await session`COMMIT`;
  await opening;
  await expect(client.trpc.events.get.query({ id: damaged })).rejects.toMatchObject({
    data: { code: 'INTERNAL_SERVER_ERROR' },
  });
});

test.each<[string, NonNullable<ListInput>]>([
  ['limit', { limit: 0 }],
  ['limit', { limit: 201 }],
  ['cursor', { cursor: 'forged' }],
  ['from', { from: 9e15 }],
  ['traceId', { traceId: 'x' }],
  ['spaceId', { spaceId: 'x' }],
  ['text', { text: '' }],
  ['not', { not: [{ column: 'traceId', value: 'x' }] }],
  ['not', { not: Array.from({ length: 11 }, () => ({ column: 'name' as const, value: 'v' })) }],
  ['minDurationMs', { minDurationMs: 1e17 }],
  ['attributeKeys', { attributeKeys: Array.from({ length: 6 }, (_, place) => `k${place}`) }],
  ['attributeKeys', { attributeKeys: ['k'.repeat(257)] }],
  ['attributes', { attributes: Array.from({ length: 11 }, () => ({ key: 'k', value: 'v' })) }],
])('an invalid %s is rejected, with its name', async (field, input) => {
  const { client } = await dashboard.addSpace();
  await expect(client.trpc.events.list.query(input)).rejects.toMatchObject({
    message: expect.stringMatching(`^${field}(\\.\\S+)?: `),
    data: { code: 'BAD_REQUEST' },
  });
});

test('each list returns the values of the attributes that are asked for, long ones cut', async () => {
  const { client, spaceId } = await dashboard.addSpace();
  const attributes = { plan: 'pro', seats: 3, 'a,b': 'x', long: `${'y'.repeat(255)}🙂` };
  await addEvents(dashboard.sql, spaceId, [{ attributes, text: '{"n":"found"}' }, { text: '{"n":"found"}' }]);
  const { events } = client.trpc;
  const attributeKeys = ['seats', 'a,b', 'long', 'none', 'constructor'];
  const asked = { attributeKeys };
  const long = `${'y'.repeat(255)}\uFFFD`;
  const expected = [{ seats: '3', 'a,b': 'x', long }, {}];
  for (const { events: found } of [
    await events.list.query(asked),
    await events.top.query({ ...asked, by: 'duration' }),
    await events.search.query({ ...asked, payload: 'found' }),
  ]) {
    const values = found.map(({ attributeValues }) => attributeValues);
    expect(values.toSorted((a, b) => Object.keys(b ?? {}).length - Object.keys(a ?? {}).length)).toEqual(
      expected,
    );
    expect(found[0]).not.toHaveProperty('attributes');
  }
  const { events: plain } = await events.list.query({});
  expect(plain[0]).not.toHaveProperty('attributeValues');
});

test('a query can be sent as a POST body, so that user ids and search texts are not in URLs', async () => {
  const space = await dashboard.addSpace();
  const [id] = await addEvents(dashboard.sql, space.spaceId, [{ userId: 'u-1' }, { userId: 'u-2' }]);
  const response = await fetch(`${dashboard.url}/trpc/events.list`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: space.client.cookie ?? '' },
    body: JSON.stringify({ limit: 5, userId: 'u-1' }),
  });
  const { result } = (await response.json()) as { result: { data: { events: { id: string }[] } } };
  expect(result.data.events.map((event) => event.id)).toEqual([id]);
});

test('the slowest, largest and most expensive events of a filter come first, and say how many were compared', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const other = await dashboard.addSpace();
  const call = (startTimeMs: number, durationMs: number, [inputTokens, cacheReadTokens]: [number, number]) =>
    llmEvent({
      startTimeMs,
      durationMs,
      properties: {
        llm: {
          model: 'm',
          usage: { inputTokens, totalTokens: inputTokens, inputTokenDetails: { cacheReadTokens } },
        },
      },
    });
  await client.trpc.prices.set.mutate({ model: 'm', input: '10', output: '10', cacheRead: '1' });
  await insertParts(dashboard.database, [
    partOf(spaceId, [call(1, 30, [100, 0]), call(2, 10, [300, 300]), call(3, 20, [200, 100])]),
    partOf(other.spaceId, [call(4, 99, [999, 0])]),
  ]);
  const top = async (by: 'duration' | 'tokens' | 'cost', filter: { to?: number } = {}) => {
    const { events, ...compared } = await client.trpc.events.top.query({ by, limit: 2, ...filter });
    return [events.map(({ startTimeMs }) => startTimeMs), compared];
  };
  const all = { compared: 3, comparedUntilMs: null };
  expect(await top('duration')).toEqual([[1, 3], all]);
  expect(await top('tokens')).toEqual([[2, 3], all]);
  expect(await top('cost')).toEqual([[3, 1], all]);
  expect(await top('tokens', { to: 2 })).toEqual([[1], { compared: 1, comparedUntilMs: null }]);
  const { events } = await client.trpc.events.list.query();
  expect(events.map(({ cost }) => cost)).toEqual(['0.0011', '0.0003', '0.001']);
  // Without a total tokens are those of the input and the output, as in comparisons.
  const usage = { inputTokens: 400, outputTokens: 500 };
  const untold = llmEvent({ startTimeMs: 5, properties: { llm: { model: 'm', usage } } });
  await insertParts(dashboard.database, [partOf(spaceId, [untold])]);
  expect((await top('tokens'))[0]).toEqual([5, 2]);
});

test('more events than are compared are cut at the newest, and the result says from when on it holds', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  for (let part = 0; part < 6; part++) {
    await addEvents(
      dashboard.sql,
      spaceId,
      Array.from({ length: 1_000 }, (_, i) => ({ startTimeMs: part * 1_000 + i, durationMs: 6_000 - part })),
    );
  }
  const { events, ...compared } = await client.trpc.events.top.query({ by: 'duration', limit: 1 });
  expect(compared).toEqual({ compared: 5_000, comparedUntilMs: 1_000 });
  expect(events).toMatchObject([{ startTimeMs: 1_999, durationMs: 5_999 }]);
});

test('errors are counted by message, whatever numbers and ids they have, and are found by their text', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const other = await dashboard.addSpace();
  const failed = (startTimeMs: number, model: string, message: string) =>
    llmEvent({
      startTimeMs,
      status: { state: 'error', error: { code: 'c', message } },
      properties: { llm: { model } },
    });
  await insertParts(dashboard.database, [
    partOf(spaceId, [
      failed(1, 'a', 'Timeout after 3000 ms'),
      failed(2, 'b', `Timeout after 12 ms`),
      failed(3, 'a', 'Bad request'),
      llmEvent({ startTimeMs: 4 }),
    ]),
    partOf(other.spaceId, [failed(5, 'x', 'Bad request')]),
  ]);
  expect(await client.trpc.events.errors.query()).toMatchObject({
    groups: [
      { message: 'Timeout after 12 ms', code: 'c', names: ['b', 'a'], events: 2, lastStartMs: 2 },
      { message: 'Bad request', names: ['a'], events: 1 },
    ],
    countedUntilMs: null,
  });
  const { events } = await client.trpc.events.list.query({ text: 'timeout AFTER' });
  expect(events).toMatchObject([{ startTimeMs: 2 }, { startTimeMs: 1 }]);
});
