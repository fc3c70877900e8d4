import { expect, test } from 'vitest';
import { localText, rangeOf } from '../filter/time-range.ts';
import { fromLocalTime, hourMs } from '../format/time.ts';
import { moveChoice } from './bucket-choice.ts';
import { readRange } from './range.ts';

const now = 1_000 * 24 * hourMs + 12_345;

test('a range that ends now ends with the minute', () => {
  const { from, to, step } = readRange({ last: '1h' }, now);
  expect([to % 60_000, to - now < 60_000, to - from, step]).toEqual([0, true, hourMs, 'minute']);
});

test.for([
  ['15m', 'minute'],
  ['24h', 'hour'],
  ['7d', 'hour'],
  ['30d', 'day'],
] as const)('a chart of the last %s has a point each %s', ([last, step]) => {
  expect(readRange({ last }, now).step).toBe(step);
});

test('a chosen range is taken as it is, and one that cannot be is not', () => {
  expect(readRange({ from: '1000', to: '2000' }, now)).toEqual({
    from: 1_000,
    to: 2_000,
    step: 'minute',
  });
  expect(readRange({ from: '2000', to: '1000' }, 10_000)).toMatchObject({ from: 2_000, to: 60_000 });
  expect(readRange({ from: 'x' }, now)).toEqual(readRange({}, now));
});

test.each(['today', 'yesterday'])('%s is a day of the zone, also when its clock changes', (last) => {
  // On 25 October 2026 the clocks of Zurich go back: the day has 25 hours.
  const noon = Date.UTC(2026, 9, 26, 11);
  const day = rangeOf({ last }, noon, 'Europe/Zurich');
  expect(day).toEqual(
    last === 'today'
      ? { from: Date.UTC(2026, 9, 25, 23) }
      : { from: Date.UTC(2026, 9, 24, 22), to: Date.UTC(2026, 9, 25, 23) },
  );
  expect(readRange({ last }, noon, 'Europe/Zurich').from).toBe(day.from);
});

test('the ends of a custom range are times of the zone', () => {
  const zone = 'Asia/Kolkata';
  const ms = Date.UTC(2026, 10, 21, 13, 3);
  expect(localText(ms, zone)).toBe('2026-11-21T18:33');
  expect(fromLocalTime(Date.parse('2026-11-21T18:33Z'), zone)).toBe(ms);
});

test('the arrow keys choose a bar, and with Shift a range', () => {
  const press = (keys: [key: string, shiftKey: boolean][]) =>
    keys.reduce<ReturnType<typeof moveChoice>>(
      (choice, [key, shiftKey]) => moveChoice(choice, { key, shiftKey }, 10),
      undefined,
    );
  expect(press([['ArrowLeft', false]])).toEqual({ anchor: 9, head: 9 });
  expect(
    press([
      ['Home', false],
      ['ArrowRight', true],
      ['ArrowRight', true],
    ]),
  ).toEqual({ anchor: 0, head: 2 });
  expect(
    press([
      ['End', false],
      ['ArrowRight', false],
    ]),
  ).toEqual({ anchor: 9, head: 9 });
  expect(press([['x', false]])).toBeUndefined();
});
