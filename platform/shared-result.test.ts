import { expect, test, vi } from 'vitest';
import { shareResult } from './shared-result.ts';

test('calls within the time share one result', async () => {
  vi.useFakeTimers();
  let asked = 0;
  const ask = shareResult(250, async () => ++asked);
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(249);
  expect(await ask()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await ask()).toBe(2);
  vi.useRealTimers();
});

test('a failure is not reused', async () => {
  let asked = 0;
  const ask = shareResult(250, async () => {
    asked += 1;
    if (asked === 1) throw new Error('away');
    return asked;
  });
  await expect(ask()).rejects.toThrow('away');
  expect(await ask()).toBe(2);
});
