import { expect, test } from 'vitest';
import { RateLimiter } from './rate-limiter.ts';

function openLimiter(keysMax = 10) {
  const clock = { nowMs: 0 };
  return {
    clock,
    limiter: new RateLimiter({ attemptsMax: 3, windowMs: 100, keysMax, now: () => clock.nowMs }),
  };
}

test('each window of a key allows the same number of attempts', () => {
  const { clock, limiter } = openLimiter();
  expect([1, 2, 3, 4, 5].map(() => limiter.take('a'))).toEqual([true, true, true, false, false]);
  expect(limiter.take('b')).toBe(true);
  clock.nowMs = 99;
  expect(limiter.take('a')).toBe(false);
  clock.nowMs = 100;
  expect(limiter.take('a')).toBe(true);
});

test('clear resets the count of a key', () => {
  const { limiter } = openLimiter();
  for (let i = 0; i < 3; i++) limiter.take('a');
  limiter.clear('a');
  expect(limiter.take('a')).toBe(true);
});

test('when there are too many keys, the one with the fewest attempts is dropped', () => {
  const { limiter } = openLimiter(2);
  for (let i = 0; i < 3; i++) limiter.take('a');
  for (let i = 0; i < 50; i++) limiter.take(`junk-${i}`);
  expect(limiter.take('a')).toBe(false);
});
