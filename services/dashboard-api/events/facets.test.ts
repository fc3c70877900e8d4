import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { addEvents, openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test('values of a field are completed with counts from statistics, the newest events and terms, of the own space only', async () => {
  const [{ spaceId, client }, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const called = (model: string, userId: string, more: object = {}) =>
    llmEvent({ startTimeMs: Date.now(), context: { userId }, properties: { llm: { model } }, ...more });
  await insertParts(dashboard.database, [
    partOf(spaceId, [
      called('gpt-4o', 'Mia'),
      called('gpt-4o-mini', 'mo%', { additionalProperties: { plan: 'pro', planned: 1 } }),
      called('gpt-4o-mini', 'Mia', { additionalProperties: { plan: 'free' } }),
    ]),
    partOf(other.spaceId, [called('gpt-secret', 'miss secret')]),
  ]);
  type Field = Parameters<typeof client.trpc.events.facets.query>[0]['fields'][number];
  const count = async (field: Field, prefix = '') =>
    (await client.trpc.events.facets.query({ fields: [field], prefix }))[0];
  const complete = async (field: Field, prefix?: string) =>
    (await count(field, prefix))?.values.map(({ value }) => value);
  expect(await count('model', 'GPT')).toEqual({
    ...{ field: 'model', others: 0, newest: null },
    values: [
      { value: 'gpt-4o-mini', events: 2 },
      { value: 'gpt-4o', events: 1 },
    ],
  });
  expect(await complete('userId', 'm')).toEqual(['Mia', 'mo%']);
  expect(await complete('userId', 'mo%')).toEqual(['mo%']);
  expect(await complete('userId', '%')).toEqual([]);
  expect(await complete('attribute', 'plan')).toEqual(['plan', 'planned']);
  expect(await complete('attr.plan')).toEqual(['pro', 'free']);
  expect(await complete('agentId')).toEqual([]);
  // A whole value that only old events have is found by its term.
  await insertParts(dashboard.database, [partOf(spaceId, [called('m', 'old timer', { startTimeMs: 5 })])]);
  const newer = Array.from({ length: 1_000 }, () => ({ startTimeMs: 10, userId: 'u' }));
  for (let part = 0; part < 5; part += 1) await addEvents(dashboard.sql, spaceId, newer);
  expect(await complete('userId', 'old')).toEqual([]);
  expect(await count('userId', 'old timer')).toEqual({
    ...{ field: 'userId', others: 0, newest: { events: 5_000, untilMs: 10 } },
    values: [{ value: 'old timer', events: null }],
  });
});

test('facets count the events of the filter without the conditions on their own field, within whole minutes', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const minute = Math.floor(Date.now() / 60_000) * 60_000 - 600_000;
  const called = (model: string, userId: string, more: object = {}) =>
    llmEvent({ startTimeMs: minute, context: { userId }, properties: { llm: { model } }, ...more });
  const failed = { status: { state: 'error' }, additionalProperties: { environment: 'test' } };
  await insertParts(dashboard.database, [
    partOf(spaceId, [
      ...[called('a', 'mia'), called('a', 'ben', failed), called('b', 'mia', failed), called('c', 'eve')],
      ...[called('a', 'mia', { startTimeMs: minute - 60_000 }), called('b', 'eve')],
    ]),
  ]);
  const fields = ['state', 'model', 'tool', 'userId', 'attr.environment'] as const;
  const count = async (filter: object) => {
    const counted = await client.trpc.events.facets.query({ fields: [...fields], ...filter });
    expect(counted.every(({ newest }) => newest === null)).toBe(true);
    return counted.map(({ values }) => values.map(({ value, events }) => `${value} ${events}`).join());
  };
  expect(await count({})).toEqual(['ok 4,error 2', 'a 3,b 2,c 1', '', 'mia 3,eve 2,ben 1', 'test 2']);
  const within = { from: minute + 5, to: minute + 6 };
  expect(await count(within)).toEqual(['ok 3,error 2', 'a 2,b 2,c 1', '', 'eve 2,mia 2,ben 1', 'test 2']);
  expect(await count({ name: 'a' })).toEqual(['ok 2,error 1', 'a 3,b 2,c 1', '', 'mia 2,ben 1', 'test 1']);
  const not = [{ column: 'name', value: 'a' } as const, { column: 'state', value: 'ok' } as const];
  expect(await count({ not })).toEqual(['ok 2,error 1', 'a 1,b 1', '', 'mia 1', 'test 1']);
  const combined = { state: 'error', attributes: [{ key: 'environment', value: 'test' }], userId: 'mia' };
  expect(await count(combined)).toEqual(['error 1', 'b 1', '', 'ben 1,mia 1', 'test 1']);
  // Statistics keep counting what has expired.
  await dashboard.sql`DELETE FROM events WHERE space_id = ${spaceId} AND start_time_ms < ${minute}`;
  expect(await count({})).toEqual(['ok 3,error 2', 'a 2,b 2,c 1', '', 'eve 2,mia 2,ben 1', 'test 2']);
});
