import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { bodyPart, partOf } from '../../../harness/fixtures/part.ts';
import {
  addEvents,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';
import { searchEvents } from './search.ts';
import { sumLeftBytes } from './searched-segments.ts';
import { SegmentSearcher } from './segment-searcher.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

type SearchInput = Parameters<TestSpace['client']['trpc']['events']['search']['query']>[0];

/** All pages of a search. */
async function walk({ client }: TestSpace, input: SearchInput) {
  const ids: string[] = [];
  let [segments, pages] = [0, 0];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof client.trpc.events.search.query>> =
      await client.trpc.events.search.query({ ...input, ...(cursor === null ? {} : { cursor }) });
    ids.push(...page.events.map(({ id }) => id));
    segments += page.progress.segments;
    pages += 1;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return { ids, segments, pages };
}

const prompt = (text: string, startTimeMs: number, threadId = 't') =>
  llmEvent({
    startTimeMs,
    context: { threadId },
    properties: { llm: { model: 'm', input: { prompt: `${'.'.repeat(300)}${text}` } } },
  });

test('a search finds each event with the text once, newest requests first, over all pages', async () => {
  const [space, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const requests = Array.from({ length: 240 }, (_, i) => [
    prompt(i % 2 === 0 ? 'a Needle' : 'hay', i * 10),
    prompt('hay', i * 10 + 1),
  ]);
  const parts = (spaceId: string) => requests.map((events) => partOf(spaceId, events));
  await insertParts(dashboard.database, parts(space.spaceId));
  const [old = ''] = await addEvents(dashboard.sql, space.spaceId, [
    { text: '{"a":"needle"}', startTimeMs: -1 },
    { text: '{"a":"hay"}', startTimeMs: -1 },
  ]);
  const expected = requests.flatMap(([event], i) => (i % 2 === 0 ? [String(event?.id)] : []));
  const found = await walk(space, { payload: 'needle' });
  expect(found.ids).toEqual([...expected.toReversed(), old]);
  expect(found.segments).toBe(241);
  // 121 events do not fit into one page.
  expect(found.pages).toBeGreaterThan(1);
  expect((await walk(space, { payload: 'needle', matchCase: true })).ids).toEqual([old]);
  expect((await walk(other, { payload: 'needle' })).ids).toEqual([]);
});

test('a search only reads segments that may match its filter, and only shows matching events', async () => {
  const space = await dashboard.addSpace();
  const events = [
    [prompt('needle', 1, 'a'), prompt('needle', 2, 'b')],
    [prompt('needle', 3, 'b')],
    [prompt('needle', 4, 'a'), prompt('hay', 5, 'a')],
  ];
  await insertParts(
    dashboard.database,
    events.map((own) => partOf(space.spaceId, own)),
  );
  expect(await walk(space, { payload: 'needle', threadId: 'a' })).toEqual({
    ids: [events[2]?.[0]?.id, events[0]?.[0]?.id],
    segments: 2,
    pages: 1,
  });
  expect(await walk(space, { payload: 'needle', from: 2, to: 4 })).toMatchObject({
    ids: [events[1]?.[0]?.id, events[0]?.[1]?.id],
    segments: 2,
  });
  expect(await walk(space, { payload: 'absent' })).toMatchObject({ ids: [], segments: 3 });
});

test('each found event comes with the text around its first hit, and a page ends where it has enough', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const texts = ['Der Öffner', 'ein öffner', 'Öffner'];
  const requests = texts.map((text, i) => [prompt(`\n${text} im Kofferraum`, i), prompt('hay', i)]);
  await insertParts(
    dashboard.database,
    requests.map((events) => partOf(spaceId, events)),
  );
  const search = { payload: 'öffner', limit: 2 };
  const page = await client.trpc.events.search.query(search);
  expect(page.events.map(({ excerpt }) => excerpt)).toEqual([
    { path: 'properties.llm.input.prompt', before: '…\n', hit: 'Öffner', after: ' im Kofferraum' },
    { path: 'properties.llm.input.prompt', before: '…\nein ', hit: 'öffner', after: ' im Kofferraum' },
  ]);
  const rest = await client.trpc.events.search.query({ ...search, cursor: String(page.nextCursor) });
  expect(rest.events).toMatchObject([{ id: requests[0]?.[0]?.id }]);
});

test('letters of every script are found in any case, wherever one searches', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const { trpc } = client;
  const after = (await trpc.live.since.query({})).cursor;
  const text = 'Übersicht für Ἀθήνα und ПРИВЕТ';
  const event = llmEvent({
    startTimeMs: Date.now(),
    context: { threadId: 'Ниточка', userId: 'ÅSE' },
    properties: { llm: { model: 'Модель', input: { prompt: text } } },
  });
  // As Python writes JSON by default.
  const body = JSON.stringify({ events: [event] }).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  await insertParts(dashboard.database, [bodyPart(spaceId, body)]);
  const found = [{ id: event.id }];
  for (const wanted of ['übersicht', 'ÜBERSICHT FÜR ἀΘΉΝΑ', 'Привет', 'привет']) {
    expect(await trpc.events.search.query({ payload: wanted })).toMatchObject({ events: found });
    expect(await trpc.events.list.query({ text: wanted })).toMatchObject({ events: found });
    expect(await trpc.live.since.query({ text: wanted, after })).toMatchObject({ events: found });
    expect(await trpc.threads.list.query({ search: wanted })).toMatchObject({ items: [{ id: 'Ниточка' }] });
  }
  expect(await trpc.threads.list.query({ search: 'ниТ' })).toMatchObject({ items: [{ id: 'Ниточка' }] });
  expect(await trpc.threads.list.query({ search: 'ås' })).toMatchObject({ items: [{ id: 'Ниточка' }] });
  expect(await trpc.users.list.query({ search: 'ås' })).toMatchObject({ items: [{ id: 'ÅSE' }] });
  for (const [field, prefix, value] of [
    ['userId', 'å', 'ÅSE'],
    ['model', 'МОД', 'Модель'],
  ] as const)
    expect(await trpc.events.facets.query({ fields: [field], prefix })).toMatchObject([
      { values: [{ value }] },
    ]);
});

test('an aborted search stops at the next segment and returns its position', async () => {
  const spaceId = randomUUID();
  await insertParts(
    dashboard.database,
    Array.from({ length: 5 }, (_, i) => partOf(spaceId, [prompt('needle', i)])),
  );
  const query = { text: 'needle', matchCase: false, filter: {} };
  const searchLimiter = <T>(task: () => Promise<T>) => task();
  await using searcher = new SegmentSearcher();
  const space = { database: dashboard.database, spaceId, searchLimiter, searcher };
  const page = await searchEvents(space, query, AbortSignal.abort());
  expect(page).toMatchObject({ events: { length: 1 }, progress: { segments: 1, searchedUntilMs: 4 } });
  // The other four requests are as long as the first.
  expect(page.progress.leftBytes).toBe(4 * page.progress.bytes);
  expect(page.progress.leftMs).toBeCloseTo(4 * page.progress.ms, 3);
  expect(page.nextCursor).not.toBeNull();
  // With too many segments to add up, all events count, also those of the first page.
  const left = { filter: {}, after: undefined, segmentsMax: 2 };
  expect(await sumLeftBytes(dashboard.database, spaceId, left)).toBeCloseTo(5 * page.progress.bytes, 3);
});

test.each([
  ['payload', { payload: '' }],
  ['payload', { payload: 'x'.repeat(1_001) }],
  ['cursor', { payload: 'x', cursor: 'forged' }],
])('an invalid %s is rejected, with its name', async (field, input) => {
  const { client } = await dashboard.addSpace();
  await expect(client.trpc.events.search.query(input)).rejects.toMatchObject({
    message: expect.stringMatching(`^${field}: `),
    data: { code: 'BAD_REQUEST' },
  });
});
