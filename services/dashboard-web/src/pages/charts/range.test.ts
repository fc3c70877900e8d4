import { expect, test } from 'vitest';
import { hourMs } from '../../format/time.ts';
import { readRange } from './range.ts';

const now = Date.UTC(2026, 10, 21, 14, 3, 9);

test.each([
  [{}, 24 * hourMs, 'hour', '24h'],
  [{ last: '1h' }, hourMs, 'minute', '1h'],
  [{ last: '30d' }, 30 * 24 * hourMs, 'day', '30d'],
  [{ last: 'junk' }, 24 * hourMs, 'hour', '24h'],
  [{ from: '5', to: '5' }, 24 * hourMs, 'hour', '24h'],
  [{ from: 'x', to: '9' }, 24 * hourMs, 'hour', '24h'],
])('%j is a range that ends now', (search, lengthMs, step, last) => {
  const range = readRange(search, now);
  expect(range.to - range.from).toBe(lengthMs);
  expect(range).toMatchObject({ to: Date.UTC(2026, 10, 21, 14, 4), step, last });
});

test('a range that was chosen is kept, and wins over one that ends now', () => {
  const search = { from: String(now - hourMs), to: String(now), last: '7d' };
  expect(readRange(search, now)).toEqual({ from: now - hourMs, to: now, step: 'minute', last: undefined });
});

test.each([
  [{ last: '24h', step: '5minutes' }, '5minutes'],
  [{ last: '30d', step: 'week' }, 'week'],
  // More buckets than a chart has, and a bucket that is longer than the range.
  [{ last: '30d', step: 'minute' }, 'day'],
  [{ last: '1h', step: 'day' }, 'minute'],
])('%j is shown by %s', (search, step) => {
  expect(readRange(search, now).step).toBe(step);
});
