import { expect, test } from 'vitest';
import { dayOf, monthEnd, monthOf, secondsToMonthEnd } from './month.ts';

test.each([
  ['2026-12-31T23:59:59.999Z', '2026-12', '2027-01-01T00:00:00.000Z', 1],
  ['2027-01-01T00:00:00.000Z', '2027-01', '2027-02-01T00:00:00.000Z', 31 * 86_400],
  ['2028-02-28T12:00:00.000Z', '2028-02', '2028-03-01T00:00:00.000Z', 1.5 * 86_400],
  ['2027-02-28T23:59:58.001Z', '2027-02', '2027-03-01T00:00:00.000Z', 2],
  ['2026-10-31T23:30:00.000+01:00', '2026-10', '2026-11-01T00:00:00.000Z', 5_400],
  ['2026-11-01T00:30:00.000+01:00', '2026-10', '2026-11-01T00:00:00.000Z', 1_800],
])('%s is in %s, which ends at %s, in %i seconds', (text, month, end, seconds) => {
  const timeMs = Date.parse(text);
  expect([monthOf(timeMs), monthEnd(timeMs), secondsToMonthEnd(timeMs)]).toEqual([month, end, seconds]);
  expect(dayOf(Date.parse(end) - 1).slice(0, 7)).toBe(month);
});
