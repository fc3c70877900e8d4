import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addEvents, openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';
import { until } from '../../../test/support/wait.ts';
import { chartLimits, openingLimits } from '../limits.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const calls = 400;

/** Locks a table: no event is opened, or no chart read, until it is unlocked. */
async function lock(table: 'segments' | 'statistic_deltas') {
  // postgres.js reserves a connection that is open.
  await dashboard.sql`SELECT 1`;
  const sql = await dashboard.sql.reserve();
  await sql`BEGIN`;
  await sql`LOCK TABLE ${sql(table)} IN ACCESS EXCLUSIVE MODE`;
  let isLocked = true;
  const unlock = async () => {
    if (isLocked) await sql`ROLLBACK`;
    isLocked = false;
  };
  return {
    unlock,
    async [Symbol.asyncDispose]() {
      await unlock();
      sql.release();
    },
  };
}

/** Statements that wait for a lock. */
async function countWaiting(): Promise<number> {
  const [row] = await dashboard.sql<{ waiting: number }[]>`
    SELECT count(*)::integer AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return row?.waiting ?? 0;
}

test('during 400 calls of one viewer another tenant opens an event at once, and excess calls get TOO_MANY_REQUESTS', async () => {
  const [viewer, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const text = JSON.stringify({ prompt: 'x'.repeat(100_000) });
  const [id = ''] = await addEvents(dashboard.sql, viewer.spaceId, [{ text }]);
  const [otherId = ''] = await addEvents(dashboard.sql, other.spaceId, [{ text: '{}' }]);
  const codes: string[] = [];
  const open = async () => {
    const failure = await viewer.client.trpc.events.get.query({ id }).then(
      () => ({ data: { code: 'OK' } }),
      (error: { data: { code: string } }) => error,
    );
    codes.push(failure.data.code);
  };
  await using blocker = await lock('segments');
  const opened = Array.from({ length: calls }, open);
  // Calls above the queue limit are rejected while the others wait.
  await until(() => codes.includes('TOO_MANY_REQUESTS'));
  const waiting = await countWaiting();
  const opening = other.client.trpc.events.get.query({ id: otherId });
  await until(async () => (await countWaiting()) > waiting);
  await blocker.unlock();
  await opening;
  const during = codes.filter((code) => code === 'OK').length;
  await Promise.all(opened);
  // In call order, the whole queue would have come first.
  expect(during).toBeLessThan(openingLimits.waitingOfUserMax / 4);
});

test('calls whose client has disconnected are not executed', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const [id = ''] = await addEvents(dashboard.sql, spaceId, [{ text: '{}' }]);
  // No event is opened until the lock is released.
  await using blocker = await lock('segments');
  const left = new AbortController();
  const gone = Array.from({ length: openingLimits.waitingOfUserMax }, () =>
    client.trpc.events.get.query({ id }, { signal: left.signal }),
  );
  await until(async () => (await countWaiting()) === openingLimits.atOnceOfSpaceMax);
  left.abort();
  expect((await Promise.allSettled(gone)).filter(({ status }) => status === 'fulfilled')).toEqual([]);
  // The queue has room again for as many calls as before.
  const absent = client.trpc.events.get.query({ id: randomUUID() });
  const refused = expect(absent).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } });
  await blocker.unlock();
  await refused;
});

test('of a space few charts are computed at a time, and one of another space beside them', async () => {
  const [viewer, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const to = Date.now();
  const ask = ({ client }: typeof viewer) =>
    client.trpc.charts.events.query({ from: to - 3_600_000, to, step: 'hour' });
  await using blocker = await lock('statistic_deltas');
  const charts = [...Array.from({ length: 12 }, () => viewer), other].map(ask);
  await until(async () => (await countWaiting()) > chartLimits.atOnceOfSpaceMax);
  // An answer to a later call: by then those for charts have begun.
  await viewer.client.trpc.me.query();
  expect(await countWaiting()).toBe(chartLimits.atOnceOfSpaceMax + 1);
  await blocker.unlock();
  await Promise.all(charts);
});
