import { expect, test } from 'vitest';
import { openLimiter } from './limiter.ts';

test('tasks run in the order of the calls, at most `atOnceMax` at a time, and a failure frees its slot', async () => {
  const limit = openLimiter(2);
  const started: number[] = [];
  let running = 0;
  const run = async (i: number) => {
    started.push(i);
    running += 1;
    expect(running).toBeLessThanOrEqual(2);
    await new Promise(setImmediate);
    running -= 1;
    if (i % 3 === 0) throw new Error(`task ${i}`);
    return i;
  };
  const tasks = Array.from({ length: 10 }, (_, i) => limit(() => run(i)));
  const outcomes = await Promise.allSettled(tasks);
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(started.map((i) => i % 3 === 0));
  expect(await limit(() => run(1))).toBe(1);
});
