import { expect, test } from 'vitest';
import { nextSort, sortRows } from './table-sort.ts';

const columns = [
  { title: 'Name', sortBy: ({ name }: { name: string; cost: number | null }) => name },
  { title: 'Cost', sortBy: ({ cost }: { name: string; cost: number | null }) => cost },
];
const rows = [
  { name: 'b', cost: 2 },
  { name: 'c', cost: null },
  { name: 'a', cost: 10 },
];

test.each([
  [undefined, 'bca'],
  ['cost', 'abc'],
  ['-cost', 'bac'],
  ['name', 'abc'],
  ['-name', 'cba'],
  ['unknown', 'bca'],
])('sorted by %s, rows without a value come last', (by, names) => {
  expect(
    sortRows(rows, columns, by)
      .map(({ name }) => name)
      .join(''),
  ).toBe(names);
});

test('clicks on a title sort, reverse, and restore the order', () => {
  expect([nextSort('Cost', undefined), nextSort('Cost', 'cost'), nextSort('Cost', '-cost')]).toEqual([
    'cost',
    '-cost',
    undefined,
  ]);
  expect(nextSort('Cost', 'name')).toBe('cost');
});
