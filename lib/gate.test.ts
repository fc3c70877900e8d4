import { expect, test } from 'vitest';
import { openGate } from './gate.ts';

test('no more than so many works run at a time, in the order of asking, and a failure frees its place', async () => {
  const gate = openGate(2);
  const begun: number[] = [];
  let running = 0;
  const work = async (i: number) => {
    begun.push(i);
    running += 1;
    expect(running).toBeLessThanOrEqual(2);
    await new Promise(setImmediate);
    running -= 1;
    if (i % 3 === 0) throw new Error(`work ${i}`);
    return i;
  };
  const works = Array.from({ length: 10 }, (_, i) => gate(() => work(i)));
  const outcomes = await Promise.allSettled(works);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(begun.map((i) => i % 3 === 0));
  expect(await gate(() => work(1))).toBe(1);
});
