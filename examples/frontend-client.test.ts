import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent, someEvents } from '../harness/fixtures/events.ts';
import { insertParts } from '../harness/fixtures/insert-parts.ts';
import { partOf } from '../harness/fixtures/part.ts';
import { openDashboard, type TestDashboard, type TestSpace } from '../test/support/dashboard.ts';
import { until } from '../test/support/wait.ts';
import { followEvents, openDashboardClient } from './frontend-client.ts';

let dashboard: TestDashboard;
let space: TestSpace;
beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test('the example signs in, lists, and shows each new event once', async () => {
  const store = (events: Record<string, unknown>[]) =>
    insertParts(dashboard.database, [partOf(space.spaceId, events)]);
  const [old, fresh] = [someEvents(2), [llmEvent({ startTimeMs: 1, endTimeMs: 2 }), llmEvent()]];
  await store(old);
  const lines: string[] = [];
  const stop = new AbortController();
  const following = followEvents(openDashboardClient(dashboard.url), space, {
    print: (line) => void lines.push(line),
    signal: stop.signal,
  });
  await until(() => lines.length === 2);
  await store(fresh);
  await until(() => lines.length === 4);
  stop.abort();
  await following;
  expect(
    lines
      .slice(0, 2)
      .map((line) => line.split(' ')[0])
      .toSorted(),
  ).toEqual(old.map(({ id }) => String(id)).toSorted());
  expect(lines.slice(2)).toEqual(fresh.map(({ id }) => `${id} llm gpt-4o 1250.5 ms`));
});

test('the example throws when the password is wrong', async () => {
  const following = followEvents(
    openDashboardClient(dashboard.url),
    { email: space.email, password: 'wrong' },
    { print: () => {}, signal: new AbortController().signal },
  );
  await expect(following).rejects.toMatchObject({ data: { code: 'UNAUTHORIZED' } });
});
