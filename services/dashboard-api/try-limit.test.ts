import { expect, test } from 'vitest';
import { TryLimit } from './try-limit.ts';

function openLimit(keysMax = 10) {
  const clock = { nowMs: 0 };
  return { clock, limit: new TryLimit({ triesMax: 3, windowMs: 100, keysMax, now: () => clock.nowMs }) };
}

test('a key has its tries in a window, and again in the next', () => {
  const { clock, limit } = openLimit();
  expect([1, 2, 3, 4, 5].map(() => limit.take('a'))).toEqual([true, true, true, false, false]);
  expect(limit.take('b')).toBe(true);
  clock.nowMs = 99;
  expect(limit.take('a')).toBe(false);
  clock.nowMs = 100;
  expect(limit.take('a')).toBe(true);
});

test('a key that succeeded begins anew', () => {
  const { limit } = openLimit();
  for (let i = 0; i < 3; i++) limit.take('a');
  limit.clear('a');
  expect(limit.take('a')).toBe(true);
});

test('more keys than are remembered push out the oldest, never the newest', () => {
  const { limit } = openLimit(2);
  for (let i = 0; i < 3; i++) limit.take('a');
  for (let i = 0; i < 3; i++) limit.take('b');
  limit.take('c');
  expect(limit.take('b')).toBe(false);
  expect(limit.take('a')).toBe(true);
});
