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
  // Without the bound, each of the 10,000 paths has a million characters, and the comparison takes an hour of
  // the event loop.
  const long = await compare((value) => ({ ['k'.repeat(1_000_000)]: members(10_000, value) }));
  expect(long.isComplete).toBe(false);
  const chars = long.differences.reduce((sum, { path }) => sum + path.length, 0);
  expect(chars).toBeLessThanOrEqual(comparedPathCharsMax);
  expect(long.differences.length).toBeGreaterThan(1);
});

test('values are those of the parsed texts: nested, empty, escaped and between spaces', async () => {
  const text =
    ' { "a" : [ 1 , [ ] , { } , { "b\\u0063" : "\\"]}," } ] ,"d": { "e":{"f":[[null,true]]}},"": -1.5e3 } ';
  const { differences } = await findDifferences(text, '{}');
  expect(differences).toEqual([
    { path: 'a[0]', a: 1 },
    { path: 'a[1]', a: '[]' },
    { path: 'a[2]', a: '{}' },
    { path: 'a[3].bc', a: '"]},' },
    { path: 'd.e.f[0][0]', a: null },
    { path: 'd.e.f[0][1]', a: true },
    { path: '', a: -1500, b: '{}' },
  ]);
  expect(await findDifferences('7', ' 8')).toMatchObject({ differences: [{ path: '', a: 7, b: 8 }] });
});

test('of two texts with a million values each a part is compared', async () => {
  const text = `[${'[],'.repeat(1_000_000)}[]]`;
  expect(await findDifferences(text, text)).toEqual({ differences: [], isComplete: false });
});
