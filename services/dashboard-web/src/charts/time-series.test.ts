import { expect, test } from 'vitest';
import { findLonely, stackValues } from './time-series.ts';

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
