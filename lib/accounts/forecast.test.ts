import { expect, test } from 'vitest';
import { forecastUsage } from './forecast.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const month = { nowMs: 10 * dayMs, endMs: 30 * dayMs, sinceMs: 5 * dayMs };

test('the forecast goes on at the rate of the last days', () => {
  const usage = { ...month, events: 2_000, limit: null, recentEvents: 500 };
  expect(forecastUsage(usage)).toEqual({ forecast: 4_000, limitReachedAt: null });
  expect(forecastUsage({ ...usage, limit: 2_500 }).limitReachedAt).toBe(new Date(15 * dayMs).toISOString());
  expect(forecastUsage({ ...usage, limit: 4_001 }).limitReachedAt).toBeNull();
});

test('a limit that is reached is reached now, whatever arrives', () => {
  const now = new Date(month.nowMs).toISOString();
  for (const limit of [0, 5]) {
    const usage = { ...month, events: limit, limit, recentEvents: 0 };
    expect(forecastUsage(usage)).toEqual({ forecast: limit, limitReachedAt: now });
  }
});

test('the first minutes of a space are no rate for a month', () => {
  const usage = { ...month, events: 10, limit: null, recentEvents: 10, sinceMs: month.nowMs - 1 };
  expect(forecastUsage(usage).forecast).toBe(10 + 10 * 20 * 24);
});
