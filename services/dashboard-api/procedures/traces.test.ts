import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyTerm, inSpace } from '../../../event/terms.ts';
import { llmEvent, toolEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import {
  addEvents,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

interface Sent {
  startTimeMs: number;
  threadId: string | undefined;
  isError: boolean;
  isTool: boolean;
}

/** Stores each request as one segment. */
async function store(spaceId: string, requests: readonly (readonly Sent[])[]): Promise<void> {
  const parts = requests.map((sent) =>
    partOf(
      spaceId,
      sent.map(({ startTimeMs, threadId, isError, isTool }) =>
        (isTool ? toolEvent : llmEvent)({
          startTimeMs,
          endTimeMs: startTimeMs + 1,
          durationMs: 1,
          context: threadId === undefined ? {} : { threadId },
          status: { state: isError ? 'error' : 'ok' },
        }),
      ),
    ),
  );
  await insertParts(dashboard.database, parts);
}

const anySent: fc.Arbitrary<Sent> = fc.record({
  startTimeMs: fc.integer({ min: 0, max: 1_000 }),
  threadId: fc.constantFrom('a', 'b', 'c', 'ü"\\,', 'd', undefined),
  isError: fc.boolean(),
  isTool: fc.boolean(),
});
const anyRequests = fc.array(fc.array(anySent, { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 15,
});

async function pagesOfThreads({ client }: TestSpace, input: { limit: number; from: number; to: number }) {
  const items = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof client.trpc.threads.list.query>> =
      await client.trpc.threads.list.query({ ...input, ...(cursor === null ? {} : { cursor }) });
    expect(page.areCountsComplete).toBe(true);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}

test('the pages of threads show each thread of the range once, by most recent activity, with its counts', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyRequests,
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 400 }),
      async (requests, limit, from) => {
        const space = await dashboard.addSpace();
        await store(space.spaceId, requests);
        const to = 900;
        const sent = requests.flat().filter((one) => one.startTimeMs >= from && one.startTimeMs < to);
        const expected = [...Map.groupBy(sent, ({ threadId }) => threadId)].flatMap(([id, own]) => {
          const starts = own.map(({ startTimeMs }) => startTimeMs);
          return id === undefined
            ? []
            : {
                id,
                events: own.length,
                errors: own.filter(({ isError }) => isError).length,
                inputTokens: 12 * own.filter(({ isTool }) => !isTool).length,
                outputTokens: 3 * own.filter(({ isTool }) => !isTool).length,
                firstStartMs: Math.min(...starts),
                lastStartMs: Math.max(...starts),
              };
        });
        const found = await pagesOfThreads(space, { limit, from, to });
        const lasts = found.map(({ lastStartMs }) => lastStartMs);
        expect(lasts).toEqual(lasts.toSorted((a, b) => b - a));
        const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
        expect(found.toSorted(byId)).toMatchObject(expected.toSorted(byId));
      },
    ),
    { numRuns: 8, endOnFailure: true },
  );
});

test('users are listed like threads', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const event = (userId: string, startTimeMs: number) => llmEvent({ startTimeMs, context: { userId } });
  await insertParts(dashboard.database, [partOf(spaceId, [event('u', 1), event('v', 2), event('u', 3)])]);
  expect(await client.trpc.users.list.query()).toMatchObject({
    items: [
      { id: 'u', events: 2, firstStartMs: 1, lastStartMs: 3 },
      { id: 'v', events: 1 },
    ],
    nextCursor: null,
  });
});

test('of many models the most called ones are shown, and the number of all', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const calls = Array.from({ length: 7 }, (_, model) =>
    llmEvent({ context: { userId: 'u' }, properties: { llm: { model: `m${model}` } } }),
  );
  await insertParts(dashboard.database, [partOf(spaceId, [...calls, ...calls.slice(6)])]);
  const [user] = (await client.trpc.users.list.query()).items;
  expect(user).toMatchObject({ models: { length: 5 }, modelCount: 7 });
});

test('a thread and a user have their first input, last state, models and cost, and are found by id, user and text', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const other = await dashboard.addSpace();
  const call = (
    startTimeMs: number,
    [threadId, userId, model]: [string, string, string],
    state: 'ok' | 'error' = 'ok',
  ) =>
    llmEvent({
      startTimeMs,
      context: { threadId, userId },
      status: { state },
      properties: {
        llm: {
          model,
          input: { prompt: `Question ${startTimeMs}` },
          usage: { inputTokens: 1_000, outputTokens: 100, inputTokenDetails: { cacheReadTokens: 400 } },
        },
      },
    });
  const dayMs = 86_400_000;
  await insertParts(dashboard.database, [
    partOf(spaceId, [
      call(1, ['bikes-1', 'mia', 'priced']),
      call(dayMs + 1, ['bikes-1', 'mia', 'priced']),
      call(dayMs + 2, ['bikes-1', 'mia', 'other'], 'error'),
      toolEvent({ startTimeMs: 0, context: { threadId: 'bikes-1' } }),
    ]),
    partOf(spaceId, [call(5, ['boats', 'noah', 'other'])]),
    partOf(other.spaceId, [call(7, ['bikes-1', 'mia', 'priced'])]),
  ]);
  // From the second day on input costs twice as much. 600 tokens are not cached.
  const price = { model: 'priced', output: '10', cacheRead: '1' };
  await client.trpc.prices.set.mutate({ ...price, input: '2' });
  await client.trpc.prices.set.mutate({ ...price, input: '4', validFrom: '1970-01-02' });
  const cost = { cost: '0.0064', pricedTokens: 2_200, tokens: 3_300 };
  const thread = {
    id: 'bikes-1',
    events: 4,
    errors: 1,
    firstStartMs: 0,
    firstInput: 'Question 1',
    lastState: 'error',
    userId: 'mia',
    models: ['priced', 'other'],
    cost,
  };
  type ListInput = Parameters<typeof client.trpc.threads.list.query>[0];
  const list = async (input: ListInput) =>
    (await client.trpc.threads.list.query(input)).items.map(({ id }) => id);
  expect((await client.trpc.threads.list.query()).items).toMatchObject([thread, { id: 'boats' }]);
  expect(await list({ comparisons: [{ measure: 'errors', operator: '>', value: 0 }] })).toEqual(['bikes-1']);
  expect(await list({ comparisons: [{ measure: 'events', operator: '<', value: 4 }] })).toEqual(['boats']);
  expect(await list({ comparisons: [{ measure: 'cost', operator: '>=', value: 0.0064 }] })).toEqual([
    'bikes-1',
  ]);
  // Of a model, with the counts of its calls.
  const ofModel = { events: 2, errors: 0, models: ['priced'], cost: { ...cost, tokens: 2_200 } };
  expect((await client.trpc.threads.list.query({ model: 'priced' })).items).toMatchObject([
    { ...thread, ...ofModel },
  ]);
  const onOther = { model: 'other', comparisons: [{ measure: 'cost', operator: '>', value: 0 } as const] };
  expect(await list(onOther)).toEqual([]);
  expect((await client.trpc.users.list.query({ model: 'no model' })).items).toEqual([]);
  expect(await client.trpc.threads.get.query({ threadId: 'bikes-1' })).toMatchObject({
    ...thread,
    areCountsComplete: true,
  });
  expect(await client.trpc.users.get.query({ userId: 'mia' })).toMatchObject({ id: 'mia', events: 3, cost });
  for (const search of ['bikes-1', 'BIKE', 'mia', 'mi', 'question 1'])
    expect(await list({ search })).toEqual(['bikes-1']);
  expect(await list({ search: 'question' })).toEqual(['bikes-1', 'boats']);
  expect(await list({ search: '%' })).toEqual([]);
  expect(await list({ userId: 'noah' })).toEqual(['boats']);
  expect((await client.trpc.users.list.query({ search: 'no' })).items).toMatchObject([{ id: 'noah' }]);
  for (const missing of [
    () => client.trpc.threads.get.query({ threadId: 'none' }),
    () => other.client.trpc.users.get.query({ userId: 'noah' }),
  ])
    await expect(missing()).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } });
});

test('the pages of a search show each thread once, also when only an old event of it matches', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const event = (thread: number, startTimeMs: number, prompt: string) =>
    llmEvent({
      startTimeMs,
      context: { threadId: `t${thread}`, userId: 'u' },
      properties: { llm: { input: { prompt } } },
    });
  const threads = Array.from({ length: 9 }, (_, thread) => thread);
  await insertParts(
    dashboard.database,
    [
      threads.map((thread) => event(thread, thread, 'needle')),
      threads.map((thread) => event(thread, 100 - thread, 'hay')),
    ].map((events) => partOf(spaceId, events)),
  );
  for (const input of [{ search: 'needle' }, { search: 't' }, { search: 'u' }, { userId: 'u' }]) {
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof client.trpc.threads.list.query>> =
        await client.trpc.threads.list.query({ ...input, limit: 2, ...(cursor === null ? {} : { cursor }) });
      found.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(found.toSorted()).toEqual(threads.map((thread) => `t${thread}`));
  }
});

test('threads and users are listed and counted even when their requests have too many terms for the index', async () => {
  const space = await dashboard.addSpace();
  const event = llmEvent({ startTimeMs: 5, context: { threadId: 't', userId: 'u' } });
  await insertParts(dashboard.database, [
    partOf(space.spaceId, [event], { terms: inSpace(space.spaceId, [anyTerm]).join(',') }),
  ]);
  for (const [list, id] of [
    [space.client.trpc.threads.list, 't'],
    [space.client.trpc.users.list, 'u'],
  ] as const) {
    const { items, areCountsComplete } = await list.query({});
    expect(items).toMatchObject([{ id, events: 1, lastStartMs: 5 }]);
    expect(areCountsComplete).toBe(true);
  }
});

test('the pages of a thread show each event once, in turns that begin with a model call', async () => {
  await fc.assert(
    fc.asyncProperty(anyRequests, fc.integer({ min: 1, max: 4 }), async (requests, limit) => {
      const { spaceId, client } = await dashboard.addSpace();
      await store(spaceId, requests);
      const turns = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof client.trpc.threads.turns.query>> =
          await client.trpc.threads.turns.query({
            threadId: 'a',
            limit,
            ...(cursor === null ? {} : { cursor }),
          });
        expect(page.turns.length).toBeLessThanOrEqual(limit + 1);
        turns.push(...page.turns);
        cursor = page.nextCursor;
      } while (cursor !== null);
      const shown = turns.toReversed().flatMap(({ events }) => events);
      const sent = requests.flat().filter(({ threadId }) => threadId === 'a');
      expect(shown.map(({ startTimeMs }) => startTimeMs)).toEqual(
        sent.map(({ startTimeMs }) => startTimeMs).toSorted((a, b) => a - b),
      );
      for (const [place, { events, isContinued }] of turns.entries()) {
        expect(isContinued).toBe(false);
        const types = events.map(({ type }) => type);
        const [first, ...others] = types;
        // Only the oldest turn may begin with a tool.
        if (place < turns.length - 1) expect(first).toBe('llm');
        expect(others).not.toContain('llm');
      }
    }),
    { numRuns: 8, endOnFailure: true },
  );
});

test('a turn with more events than a page is continued on the next one', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const tools = Array.from(
    { length: 250 },
    (_, i) => ({ startTimeMs: i + 1, type: 'tool', threadId: 't' }) as const,
  );
  await addEvents(dashboard.sql, spaceId, [{ startTimeMs: 0, threadId: 't' }, ...tools]);
  const first = await client.trpc.threads.turns.query({ threadId: 't' });
  expect(first.turns).toMatchObject([{ events: { length: 200 }, isContinued: true }]);
  const second = await client.trpc.threads.turns.query({ threadId: 't', cursor: first.nextCursor ?? '' });
  expect(second).toMatchObject({ turns: [{ events: { length: 51 }, isContinued: false }], nextCursor: null });
});

test('a trace shows its events in time order, with named and inferred parents, lanes and gaps', async () => {
  const [space, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const traceId = randomUUID();
  const ids = Array.from({ length: 4 }, () => randomUUID());
  const at = (startTimeMs: number, endTimeMs: number) => {
    return {
      startTimeMs,
      endTimeMs,
      durationMs: endTimeMs - startTimeMs,
      traceId,
      context: { threadId: 't' },
    };
  };
  const output = { toolCalls: [{ type: 'function', function: { name: 'grep', arguments: '{}' } }] };
  await insertParts(dashboard.database, [
    partOf(space.spaceId, [
      toolEvent({ ...at(20, 30), id: ids[1], properties: { tool: { name: 'grep' } } }),
      llmEvent({ ...at(22, 24), id: ids[2] }),
    ]),
    partOf(space.spaceId, [
      llmEvent({ ...at(0, 10), id: ids[0], properties: { llm: { model: 'm', output } } }),
      llmEvent({
        ...at(50, 60),
        id: ids[3],
        additionalProperties: { 'otel.parent_event_id': ids[0], 'otel.parent_span_id': 'x' },
      }),
      llmEvent({ traceId: randomUUID() }),
    ]),
  ]);
  const trace = await space.client.trpc.traces.get.query({ traceId: traceId.toUpperCase() });
  expect(trace.events.map(({ id, parent }) => [id, parent])).toEqual([
    [ids[0], null],
    [ids[1], { id: ids[0], by: 'tool_call', isInferred: true }],
    [ids[2], { id: ids[1], by: 'containment', isInferred: true }],
    [ids[3], { id: ids[0], by: 'otlp', isInferred: false }],
  ]);
  expect(trace).toMatchObject({
    isComplete: true,
    areToolCallsComplete: true,
    unresolvedMs: null,
    hasTooManySpans: false,
    lanes: [{ threadId: 't', eventIds: ids, startMs: 0, endMs: 60 }],
    gaps: [
      { startMs: 10, endMs: 20 },
      { startMs: 30, endMs: 50 },
    ],
    overlaps: [],
  });
  expect(trace.events[0]).not.toHaveProperty('segmentId');
  await expect(other.client.trpc.traces.get.query({ traceId })).rejects.toMatchObject({
    data: { code: 'NOT_FOUND' },
  });
});

test('a trace with too many events shows the newest ones and reports the limit', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const traceId = randomUUID();
  for (let request = 0; request < 6; request++) {
    const events = Array.from({ length: 1_000 }, (_, i) => ({ traceId, startTimeMs: request * 1_000 + i }));
    await addEvents(dashboard.sql, spaceId, events);
  }
  const trace = await client.trpc.traces.get.query({ traceId });
  expect(trace).toMatchObject({ events: { length: 5_000 }, eventsMax: 5_000, isComplete: false });
  expect(trace.events[0]?.startTimeMs).toBe(1_000);
});

test('absurd token counts add up to finite sums', async () => {
  await using dashboard = await openDashboard();
  const { spaceId, client } = await dashboard.addSpace();
  const absurd = {
    threadId: 't',
    userId: 'u',
    inputTokens: Number.MAX_VALUE,
    outputTokens: -Number.MAX_VALUE,
  };
  const tool = { ...absurd, type: 'tool' } as const;
  await addEvents(dashboard.sql, spaceId, [
    absurd,
    { ...tool, startTimeMs: 2_000 },
    { ...tool, startTimeMs: 3_000 },
  ]);
  const expected = { inputTokens: 3e15, outputTokens: -3e15 };
  expect((await client.trpc.threads.list.query()).items).toMatchObject([{ id: 't', ...expected }]);
  expect((await client.trpc.users.list.query()).items).toMatchObject([{ id: 'u', ...expected }]);
  expect((await client.trpc.threads.turns.query({ threadId: 't' })).turns).toMatchObject([expected]);
});

test('of events of a thread that start together, the first and the last are those of the list, in whichever order they were stored', async () => {
  const calls = Array.from({ length: 6 }, (_, place) =>
    llmEvent({
      startTimeMs: 7,
      context: { threadId: 'together', userId: `user ${place}` },
      properties: {
        llm: { model: `model ${place % 3}`, input: { prompt: `Question ${place}` } },
      },
      status: { state: place % 2 === 0 ? 'ok' : 'error' },
    }),
  );
  for (const order of [calls, calls.toReversed()]) {
    const { spaceId, client } = await dashboard.addSpace();
    await insertParts(
      dashboard.database,
      order.map((event) => partOf(spaceId, [event])),
    );
    const { events } = await client.trpc.events.list.query({ limit: 10 });
    const [newest, oldest] = [events[0], events.at(-1)];
    expect((await client.trpc.threads.list.query()).items).toMatchObject([
      { firstInput: oldest?.inputPreview, lastState: newest?.state, userId: newest?.userId },
    ]);
  }
});
