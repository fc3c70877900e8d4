import { expect, test } from 'vitest';
import { findLonely, snapToBuckets, stackValues } from './time-series.ts';

test('stacked values are the upper edges, the highest stack first; nothing to draw adds nothing', () => {
  const [top, bottom] = [
    [1, null, 4],
    [2, 3, null],
  ];
  expect(stackValues([bottom, top])).toEqual([
    [3, 3, 4],
    [2, 3, 0],
  ]);
  expect(stackValues([])).toEqual([]);
});

test('a value between gaps is found, since no line is drawn to it', () => {
  expect(findLonely([1, null, 2, 3, null, 4, null, null])).toEqual([0, 5]);
  expect(findLonely([null, 1, 2])).toEqual([]);
  expect(findLonely([7])).toEqual([0]);
});

test.each([
  ['a drag that is a little too long', 9, 21, 10, 20],
  ['one within a bucket', 12, 14, 10, 20],
  ['one to the end of the chart', 19, 99, 20, 40],
])('%s selects whole buckets', (_, from, to, snappedFrom, snappedTo) => {
  expect(snapToBuckets([0, 10, 20, 30], 40, { from, to })).toEqual({ from: snappedFrom, to: snappedTo });
});
