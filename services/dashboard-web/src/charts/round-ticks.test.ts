import { expect, test } from 'vitest';
import { dayMs, formatMinute } from '../format/time.ts';
import { roundTicks } from './round-ticks.ts';

const zone = 'Europe/Zurich';
const show = (from: string, to: string, stepMsMin?: number) =>
  roundTicks(Date.parse(from), Date.parse(to), zone, stepMsMin).map((ms) => formatMinute(ms, zone));

test('ticks are round times of the zone, whenever the range begins', () => {
  expect(show('2026-11-22T12:58:55Z', '2026-11-22T14:00:00Z')).toEqual(
    ['14:00', '14:10', '14:20', '14:30', '14:40', '14:50'].map((clock) => `22 Nov, ${clock}`),
  );
  expect(show('2026-11-20T10:20:00Z', '2026-11-23T10:20:00Z', dayMs)).toEqual(
    ['21', '22', '23'].map((day) => `${day} Nov, 00:00`),
  );
});

test('a day begins at midnight also after the clock has changed', () => {
  expect(show('2026-10-23T22:00:00Z', '2026-10-27T10:00:00Z', dayMs)).toEqual(
    ['24', '25', '26', '27'].map((day) => `${day} Oct, 00:00`),
  );
});

test('a range that is empty, or longer than all steps, has few ticks', () => {
  expect(show('2026-11-22T12:00:00Z', '2026-11-22T12:00:00Z')).toEqual([]);
  expect(roundTicks(0, 1e15, zone)).toEqual([]);
});
