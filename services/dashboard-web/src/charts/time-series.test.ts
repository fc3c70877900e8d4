import { expect, test } from 'vitest';
import { stackValues } from './time-series.ts';

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
