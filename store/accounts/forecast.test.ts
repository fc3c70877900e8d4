import { expect, test } from 'vitest';
import { dayMs } from '../../platform/time.ts';
import { forecastUsage } from './forecast.ts';

const month = { nowMs: 10 * dayMs, endMs: 30 * dayMs, sinceMs: 5 * dayMs };

test('the forecast continues the rate of the last days', () => {
  const usage = { ...month, events: 2_000, limit: null, recentEvents: 500 };
  expect(forecastUsage(usage)).toEqual({ forecast: 4_000, limitReachedAt: null });
  expect(forecastUsage({ ...usage, limit: 2_500 }).limitReachedAt).toBe(new Date(15 * dayMs).toISOString());
  expect(forecastUsage({ ...usage, limit: 4_001 }).limitReachedAt).toBeNull();
});

test('a limit that is already reached is reported as reached now, at any rate', () => {
  const now = new Date(month.nowMs).toISOString();
  for (const limit of [0, 5]) {
    const usage = { ...month, events: limit, limit, recentEvents: 0 };
    expect(forecastUsage(usage)).toEqual({ forecast: limit, limitReachedAt: now });
  }
});

test('there is no forecast from less than a day of data', () => {
  const usage = { ...month, events: 10, limit: 20, recentEvents: 10, sinceMs: month.nowMs - dayMs + 1 };
  expect(forecastUsage(usage)).toEqual({ forecast: null, limitReachedAt: null });
  expect(forecastUsage({ ...usage, sinceMs: month.nowMs - dayMs }).forecast).toBe(10 + 10 * 20);
  // A reached limit is reported even without a forecast.
  expect(forecastUsage({ ...usage, limit: 10 }).limitReachedAt).toBe(new Date(month.nowMs).toISOString());
  expect(forecastUsage({ ...usage, events: 0, recentEvents: 0 }).forecast).toBe(0);
});
