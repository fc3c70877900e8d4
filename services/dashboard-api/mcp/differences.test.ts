import { expect, test } from 'vitest';
import { findDifferences } from './differences.ts';
import { comparedPathCharsMax, comparedValuesMax } from './limits.ts';

test('differences are in the order of the first text', async () => {
  const { differences, isComplete } = await findDifferences(
    '{"a":{"x":1,"y":[1,{}]},"b":1}',
    '{"b":1,"a":{"y":[1,[]],"z":null}}',
  );
  expect(differences).toEqual([
    { path: 'a.x', a: 1 },
    { path: 'a.y[1]', a: '{}', b: '[]' },
    { path: 'a.z', b: null },
  ]);
  expect(isComplete).toBe(true);
});

test('the paths of a comparison are bounded in number and in length', async () => {
  const members = (count: number, value: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, value]));
  const compare = (make: (value: number) => unknown) =>
    findDifferences(JSON.stringify(make(1)), JSON.stringify(make(2)));
  const many = await compare((value) => members(comparedValuesMax + 1, value));
  expect(many.isComplete).toBe(false);
  expect(many.differences).toHaveLength(comparedValuesMax);
  // Without the bound, each of the 10,000 paths has a million characters, and the comparison takes an hour of the event loop.
  const long = await compare((value) => ({ ['k'.repeat(1_000_000)]: members(10_000, value) }));
  expect(long.isComplete).toBe(false);
  const chars = long.differences.reduce((sum, { path }) => sum + path.length, 0);
  expect(chars).toBeLessThanOrEqual(comparedPathCharsMax);
  expect(long.differences.length).toBeGreaterThan(1);
});

test('the event loop serves others between the steps of a comparison', async () => {
  let turns = 0;
  let next: NodeJS.Immediate | undefined;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  count();
  await findDifferences('{"a":1}', '{"a":2}');
  clearImmediate(next);
  // Each of two texts is parsed, and then its values are read.
  expect(turns).toBeGreaterThan(3);
});
