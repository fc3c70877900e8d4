import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent, toolEvent } from '../../../harness/fixtures/events.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { anyTerm, inSpace } from '../../../lib/event/terms.ts';
import { insertParts } from '../../../lib/write/store.ts';
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
        expect(found.toSorted(byId)).toEqual(expected.toSorted(byId));
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
