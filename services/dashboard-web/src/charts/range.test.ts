import { expect, test } from 'vitest';
import { hourMs } from '../format/time.ts';
import { readRange } from './range.ts';

const now = 1_000 * 24 * hourMs + 12_345;

test('a range that ends now ends with the minute', () => {
  const { from, to, step } = readRange({ last: '1h' }, now, '24h');
  expect([to % 60_000, to - now < 60_000, to - from, step]).toEqual([0, true, hourMs, 'minute']);
});

test.for([
  ['15m', 'minute'],
  ['24h', 'hour'],
  ['7d', 'hour'],
  ['30d', 'day'],
] as const)('a chart of the last %s has a point each %s', ([last, step]) => {
  expect(readRange({ last }, now, '1h').step).toBe(step);
});

test('a chosen range is taken as it is, and one that cannot be is not', () => {
  expect(readRange({ from: '1000', to: '2000' }, now, '1h')).toEqual({
    from: 1_000,
    to: 2_000,
    step: 'minute',
  });
  expect(readRange({ from: '2000', to: '1000' }, 10_000, '1h')).toMatchObject({ from: 2_000, to: 60_000 });
  expect(readRange({ from: 'x' }, now, '1h')).toEqual(readRange({}, now, '1h'));
});
