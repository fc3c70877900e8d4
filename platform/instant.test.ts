import fc from 'fast-check';
import { expect, test } from 'vitest';
import { day, instant, pastInstant } from './instant.ts';

const noTimes = [
  'ticket 4711',
  'user-12345',
  'run 3000/1',
  '4711',
  '2026',
  '2026-11',
  '2026-02-30',
  '2026-11-30T12:00:00',
  '2026-11-30 12:00:00Z',
  '2026-11-30T25:00:00Z',
  '2026-11-30T12:00:00 (Z)',
  'Mon, 30 Nov 2026 12:00:00 GMT',
  '+012026-11-30T12:00:00Z',
  '0000-01-01',
  '0000-01-01T00:00:00Z',
  '',
];

test('a text that only Date.parse takes for a time is none', () => {
  for (const text of noTimes) expect(instant.safeParse(text).success, text).toBe(false);
  for (const text of [...noTimes, '2026-11-30T12:00:00Z'])
    expect(day.safeParse(text).success, text).toBe(false);
});

test('a time has a zone; a day is its first instant in UTC', () => {
  const noon = Date.UTC(2026, 10, 30, 12);
  expect(instant.parse('2026-11-30T12:00:00Z')).toBe(noon);
  expect(instant.parse('2026-11-30T12:00:00.250Z')).toBe(noon + 250);
  expect(instant.parse('2026-11-30T14:00+02:00')).toBe(noon);
  expect(instant.parse('2026-11-30')).toBe(Date.UTC(2026, 10, 30));
  expect(instant.parse('2028-02-29')).toBe(Date.UTC(2028, 1, 29));
});

test('every time of the years 1 to 9999 is read as it is written', () => {
  const dates = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });
  fc.assert(fc.property(dates, (date) => instant.parse(date.toISOString()) === date.getTime()));
});

test('a past instant is not in the future', () => {
  const atMs = Date.now() + 60_000;
  expect(pastInstant.safeParse(new Date(atMs).toISOString()).error?.issues[0]?.message).toBe(
    'must not be in the future',
  );
  expect(pastInstant.parse(new Date(atMs - 120_000).toISOString())).toBe(atMs - 120_000);
});
