import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DiffRow, foldUnchanged, pairRows, toRows } from './changes.ts';
import { compareLines } from './compare-lines.ts';

const rowsOf = (before: string[], after: string[]) =>
  toRows(before, after, compareLines(before, after) ?? []);
const textsOf = (rows: readonly DiffRow[], side: 'before' | 'after') =>
  rows.filter((row) => row[side] !== undefined).map(({ text }) => text);

test('the rows of any two texts are their lines, in order and with their numbers', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', '', ' ', '\t'), { maxLength: 30 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const rows = rowsOf(before, after);
      expect(textsOf(rows, 'before')).toEqual(before);
      expect(textsOf(rows, 'after')).toEqual(after);
      const numbers = rows.flatMap((row) => row.after ?? []);
      expect(numbers).toEqual(after.map((_, index) => index + 1));
    }),
  );
});

test('unchanged lines far from a change are folded, and shown again when the fold is opened', () => {
  const before = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);
  const after = before.with(9, 'changed');
  const rows = rowsOf(before, after);
  const folded = foldUnchanged(rows, new Set());
  expect(folded.map((row) => (row.kind === 'fold' ? row : row.text))).toEqual([
    { kind: 'fold', at: 0, count: 6 },
    ...['line 7', 'line 8', 'line 9', 'line 10', 'changed', 'line 11', 'line 12', 'line 13'],
    { kind: 'fold', at: 14, count: 17 },
  ]);
  expect(foldUnchanged(rows, new Set([0, 14]))).toEqual(rows);
});

test('lines near two changes are not folded', () => {
  const before = Array.from({ length: 9 }, (_, i) => `${i}`);
  const rows = rowsOf(before, before.with(0, 'x').with(8, 'y'));
  expect(foldUnchanged(rows, new Set())).toEqual(rows);
});

test('side by side each line is on the side of its text, and changes face each other', () => {
  const rows = rowsOf(['a', 'b', 'c', 'd'], ['a', 'x', 'd']);
  const pairs = pairRows(rows).flatMap((pair) =>
    pair.kind === 'fold' ? [] : [[pair.left?.text, pair.right?.text]],
  );
  expect(pairs).toEqual([
    ['a', 'a'],
    ['b', 'x'],
    ['c', undefined],
    ['d', 'd'],
  ]);
});
