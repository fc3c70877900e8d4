import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent, someEvents } from '../../../../harness/fixtures/events.ts';
import { dayOf, monthOf } from '../../../../store/accounts/month.ts';
import {
  dashboardPepper,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../../test/support/dashboard.ts';
import { postEvents } from '../../../../test/support/http.ts';
import { pepper } from '../../../../test/support/pipeline.ts';
import { usePipeline } from '../../../../test/support/use-pipeline.ts';
import { until, untilApplied, untilDrained } from '../../../../test/support/wait.ts';

/** Keys and usage, with a real ingest and writer on the dashboard's database. */

const { pipeline } = usePipeline();
let dashboard: TestDashboard;
let space: TestSpace;
beforeAll(async () => {
  dashboard = await openDashboard({ databaseUrl: pipeline.variables.DATABASE_URL ?? '' });
  expect(dashboardPepper).toBe(pepper);
  space = await dashboard.addSpace();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const code = (value: string) => ({ data: { code: value } });

const send = async (apiKey: string, events: object[] = [llmEvent()]) =>
  (await postEvents(pipeline, { apiKey }, events)).status;
const untilAnswered = (apiKey: string, status: number) =>
  untilApplied(async () => (await send(apiKey)) === status);
const apiKeys = () => space.client.trpc.apiKeys;
const find = async (keyId: string) => (await apiKeys().list.query()).find(({ id }) => id === keyId);

/** On a busy machine a change may be noticed later than within a second. */
const mayBeLate = { retry: 2 };

test(
  'a key is shown once, listed by its first and last characters, and accepted until it is revoked',
  mayBeLate,
  async () => {
    const { keyId, apiKey } = await apiKeys().create.mutate({ name: ' production ' });
    await untilAnswered(apiKey, 202);
    const listed = await find(keyId);
    expect(listed).toMatchObject({
      name: 'production',
      prefix: 'weir_',
      lastFour: apiKey.slice(-4),
      createdBy: space.email,
      expiresAt: null,
      revokedAt: null,
      state: 'active',
      replaces: null,
      replacedBy: null,
    });
    expect(JSON.stringify(listed)).not.toContain(apiKey.slice(5, 20));
    await apiKeys().revoke.mutate({ keyId });
    await untilAnswered(apiKey, 401);
    await apiKeys().revoke.mutate({ keyId });
    expect(await find(keyId)).toMatchObject({ state: 'revoked' });
  },
);

test('a key is rejected once it has expired', mayBeLate, async () => {
  const expiresAt = new Date(Date.now() + 2_000).toISOString();
  const { keyId, apiKey } = await apiKeys().create.mutate({ name: 'short', expiresAt });
  await untilAnswered(apiKey, 202);
  await until(async () => (await send(apiKey)) === 401);
  expect(await find(keyId)).toMatchObject({ state: 'expired', expiresAt });
  await expect(
    apiKeys().create.mutate({ name: 'late', expiresAt: new Date(Date.now() - 1).toISOString() }),
  ).rejects.toMatchObject(code('BAD_REQUEST'));
});

test(
  'a rolled key is accepted together with the new one during the overlap, and not afterwards',
  mayBeLate,
  async () => {
    const old = await apiKeys().create.mutate({ name: 'rolled' });
    const rolled = await apiKeys().roll.mutate({ keyId: old.keyId, overlapHours: 2 / 3_600 });
    expect(await send(old.apiKey)).toBe(202);
    await untilAnswered(rolled.apiKey, 202);
    await until(async () => (await send(old.apiKey)) === 401);
    expect(await send(rolled.apiKey)).toBe(202);
    expect(await find(rolled.keyId)).toMatchObject({ name: 'rolled', replaces: old.keyId, expiresAt: null });
    expect(await find(old.keyId)).toMatchObject({ replacedBy: rolled.keyId, state: 'expired' });
  },
);

test('of concurrent rolls of one key one succeeds', async () => {
  const { keyId } = await apiKeys().create.mutate({ name: 'race' });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => apiKeys().roll.mutate({ keyId, overlapHours: 1 })),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const named = (await apiKeys().list.query()).filter(({ name }) => name === 'race');
  expect(named).toHaveLength(2);
});

test('the new key keeps the lifetime of the rolled one, and rolling extends no lifetime', async () => {
  const hourMs = 60 * 60 * 1_000;
  const expiresAt = new Date(Date.now() + hourMs).toISOString();
  const old = await apiKeys().create.mutate({ name: 'hour', expiresAt });
  const rolled = await apiKeys().roll.mutate({ keyId: old.keyId, overlapHours: 24 });
  expect(await find(old.keyId)).toMatchObject({ expiresAt });
  const lifetimeMs = Date.parse((await find(rolled.keyId))?.expiresAt ?? '') - Date.now();
  expect(lifetimeMs).toBeGreaterThan(hourMs - 60_000);
  expect(lifetimeMs).toBeLessThanOrEqual(hourMs);
});

test('a revoked key cannot be rolled', async () => {
  const { keyId } = await apiKeys().create.mutate({ name: 'gone' });
  await apiKeys().revoke.mutate({ keyId });
  await expect(apiKeys().roll.mutate({ keyId })).rejects.toMatchObject(code('NOT_FOUND'));
});

test('usage counts events by day and by key, and retries separately', async () => {
  const own = await dashboard.addSpace();
  const { trpc } = own.client;
  const first = await trpc.apiKeys.create.mutate({ name: 'first' });
  const second = await trpc.apiKeys.create.mutate({ name: 'second' });
  const post = (apiKey: string, events: object[]) =>
    until(async () => (await postEvents(pipeline, { apiKey }, events)).status === 202);
  const events = someEvents(7);
  await post(first.apiKey, events);
  await untilDrained(pipeline);
  // A complete retry, a partial one, and the same id twice in a batch. The queue itself would drop an
  // unchanged batch.
  await post(first.apiKey, events.toReversed());
  await post(second.apiKey, [...events.slice(0, 2), ...someEvents(3)]);
  const twice = llmEvent();
  await post(second.apiKey, [twice, twice]);
  await untilDrained(pipeline);
  const day = dayOf(Date.now());
  expect(await trpc.usage.daily.query()).toEqual([{ day, events: 11, repeats: 10 }]);
  expect(await trpc.usage.months.query()).toEqual([{ month: monthOf(Date.now()), events: 11 }]);
  expect(await trpc.usage.current.query()).toMatchObject({ events: 11 });
  expect((await trpc.apiKeys.list.query()).map(({ name, days }) => ({ name, days }))).toEqual([
    { name: 'first', days: [{ day, events: 7 }] },
    { name: 'second', days: [{ day, events: 4 }] },
  ]);
});
