import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { columnCharsMax } from '../../lib/limits.ts';
import {
  addEvents,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../test/support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

type ListInput = Parameters<TestSpace['client']['trpc']['events']['list']['query']>[0];

/** Every id that following nextCursor shows, in order. */
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

test('pages of any size show each event once, newest first, also where start times are equal', async () => {
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

test('an event that arrives between two pages neither hides nor repeats another', async () => {
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

test('a list shows the columns, and flags odd times', async () => {
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
} as const;
const unwanted = { startTimeMs: 2_000, type: 'llm', state: 'ok', name: 'a' } as const;

test.each<[string, NonNullable<ListInput>]>([
  ['type', { type: 'tool' }],
  ['state', { state: 'error' }],
  ['name', { name: 'b' }],
  ['threadId', { threadId: 'b' }],
  ['userId', { userId: 'b' }],
  ['traceId', { traceId: traceId.toUpperCase() }],
  ['to, excluded', { to: 2_000 }],
  ['from, included', { from: 1_000, to: 1_000.5 }],
  [
    'several at once',
    { type: 'tool', state: 'error', name: 'b', threadId: 'b', traceId, from: 0, to: 1_500 },
  ],
])('the filter %s shows what matches, on every page', async (_name, filter) => {
  const space = await dashboard.addSpace();
  const matching = Array.from({ length: 3 }, () => ({ ...wanted, traceId }));
  const ids = await addEvents(dashboard.sql, space.spaceId, [unwanted, ...matching, unwanted]);
  expect(await walk(space, { ...filter, limit: 1 })).toEqual(ids.slice(1, 4).sort());
});

test('a filter finds texts that their column holds cut or replaced', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  await addEvents(dashboard.sql, spaceId, [{ threadId: long }, { userId: 'nul\uFFFD' }]);
  expect((await client.trpc.events.list.query({ threadId: `${long}tail` })).events).toHaveLength(1);
  expect((await client.trpc.events.list.query({ userId: 'nul\0' })).events).toHaveLength(1);
});

test('an opened event is the text that was sent, byte for byte', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const text = '{"id" : 12345678901234567890,\n "odd":"\\u0000\\ud800 ü", "n":1.0e0, "deep":[{"a":"]}"}]}';
  const [, id = ''] = await addEvents(dashboard.sql, spaceId, [{}, { text, name: 'm' }, {}]);
  const opened = await client.trpc.events.get.query({ id: id.toUpperCase() });
  expect(opened).toMatchObject({ id, name: 'm', receivedAt: '2026-01-02T03:04:05.678Z', event: text });
  expect(opened).not.toHaveProperty('segmentId');
});

test('an event that does not exist is NOT_FOUND', async () => {
  const { client } = await dashboard.addSpace();
  await expect(client.trpc.events.get.query({ id: randomUUID() })).rejects.toMatchObject({
    data: { code: 'NOT_FOUND' },
  });
});

test.each<[string, NonNullable<ListInput>]>([
  ['limit', { limit: 0 }],
  ['limit', { limit: 201 }],
  ['cursor', { cursor: 'forged' }],
  ['from', { from: 9e15 }],
  ['traceId', { traceId: 'x' }],
  ['spaceId', { spaceId: 'x' }],
])('a bad %s is refused by name', async (field, input) => {
  const { client } = await dashboard.addSpace();
  await expect(client.trpc.events.list.query(input)).rejects.toMatchObject({
    message: expect.stringMatching(`^${field}: `),
    data: { code: 'BAD_REQUEST' },
  });
});
