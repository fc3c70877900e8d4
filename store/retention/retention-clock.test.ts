import { expect, test } from 'vitest';
import { dayMs, minuteMs } from '../../platform/time.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres } from '../db/connect.ts';
import { openDatabase } from '../db/database.ts';
import { unseenTimeMsMax } from './limits.ts';
import { RetentionClock } from './retention-clock.ts';

/** Longer than these tests take. */

async function openStore() {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await createDatabase());
  const sql = stack.use(
    openPostgres(url, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 10_000 }),
  );
  const owned = stack.move();
  return { database: openDatabase(sql), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test('a clock that jumps ahead moves the cutoff by at most twice the time that really passed', async () => {
  await using store = await openStore();
  const clock = new RetentionClock();
  const startMs = Date.now();
  expect(await clock.advance(store.database, startMs)).toBe(startMs);
  for (const jumpDays of [1, 30, 365])
    expect(await clock.advance(store.database, startMs + jumpDays * dayMs)).toBeLessThan(startMs + minuteMs);
  // The machine clock is corrected.
  expect(await clock.advance(store.database, startMs + minuteMs)).toBeLessThan(startMs + minuteMs);
});

test('the first restart after a jump moves the cutoff by at most twice the accepted gap, further restarts do not', async () => {
  await using store = await openStore();
  const startMs = Date.now();
  const passAt = (nowMs: number) => new RetentionClock().advance(store.database, nowMs);
  await passAt(startMs);
  const yearLaterMs = startMs + 365 * dayMs;
  expect(await passAt(yearLaterMs)).toBe(startMs + 2 * unseenTimeMsMax);
  expect(await passAt(yearLaterMs)).toBe(startMs + 2 * unseenTimeMsMax);
});

test('a machine that was off for a month catches up as time passes, and then keeps up', async () => {
  await using store = await openStore();
  const startMs = Date.now();
  const passAt = (nowMs: number) => new RetentionClock().advance(store.database, nowMs);
  await passAt(startMs);
  let nowMs = startMs + 30 * dayMs;
  let timeMs = await passAt(nowMs);
  expect(nowMs - timeMs).toBeGreaterThan(29 * dayMs);
  // Two processes pass in turns, so that elapsed time is taken from the machine clock.
  for (let minutes = 0; minutes < 30 * 24 * 60; minutes += 60) {
    nowMs += 60 * minuteMs;
    timeMs = await passAt(nowMs);
  }
  expect(timeMs).toBe(nowMs);
});

test('the cutoff moves back when the machine clock is set back', async () => {
  await using store = await openStore();
  const clock = new RetentionClock();
  const startMs = Date.now();
  await clock.advance(store.database, startMs);
  expect(await clock.advance(store.database, startMs - dayMs)).toBe(startMs - dayMs);
  expect(await clock.advance(store.database, startMs)).toBeLessThan(startMs - dayMs + minuteMs);
});
