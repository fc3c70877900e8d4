import { expect, test } from 'vitest';
import { dayMs, formatEnd, formatInCard, formatTick } from './time.ts';

const atMs = Date.UTC(2026, 10, 21, 13, 3);

test.each([
  [dayMs, '14:03', '21 Nov, 14:03'],
  [30 * dayMs, '21 Nov', '21 Nov, 14:03'],
  [3 * 365 * dayMs, 'Nov 2026', '2026-11-21'],
])('in a range of %d ms a tick is %s, and an end %s', (rangeMs, tick, end) => {
  expect(formatTick(atMs, rangeMs, 'Europe/Zurich')).toBe(tick);
  expect(formatEnd(atMs, rangeMs, 'Europe/Zurich')).toBe(end);
});

test.each([
  [0, '14:03:00'],
  // Midnight of the zone was 13 hours before the time.
  [15 * 3_600_000, '20 Nov, 23:03'],
  [400 * dayMs, '2025-10-17'],
])('of an event %d ms ago a card shows the time as %s', (agoMs, shown) => {
  expect(formatInCard(atMs - agoMs, atMs, 'Europe/Zurich')).toBe(shown);
});
