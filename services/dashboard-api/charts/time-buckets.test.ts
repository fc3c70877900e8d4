import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coverBuckets } from './stat-ranges.ts';
import { type ChartStep, timeBoundaries } from './time-buckets.ts';

const zones = [
  'UTC',
  'Europe/Zurich',
  'America/New_York',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'America/St_Johns',
];
const hourMs = 3_600_000;
const local = (ms: number, timeZone: string) =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  }).format(ms);

test.each([
  // A day of 23 hours, a day of 25 hours, and a zone that skipped a day.
  ['Europe/Zurich', '2026-03-29T00:00:00+01:00', 23],
  ['Europe/Zurich', '2026-10-25T00:00:00+02:00', 25],
  ['America/New_York', '2026-03-08T00:00:00-05:00', 23],
  ['Asia/Kolkata', '2026-03-08T00:00:00+05:30', 24],
  ['Australia/Lord_Howe', '2026-04-05T00:00:00+11:00', 24.5],
])('a day in %s that begins at %s has %s hours', (timeZone, start, hours) => {
  const from = Date.parse(start);
  const boundaries = timeBoundaries({ from: from + 1, to: from + 2, step: 'day', timeZone });
  expect(boundaries).toEqual([from, from + hours * hourMs]);
});

test.each([
  ['week', '2026-03-23T00:00:00+01:00', '2026-03-30T00:00:00+02:00'],
  ['month', '2026-03-01T00:00:00+01:00', '2026-04-01T00:00:00+02:00'],
  ['5minutes', '2026-03-29T03:05:00+02:00', '2026-03-29T03:10:00+02:00'],
] as const)('a %s in Zurich begins at %s and ends at %s', (step, start, end) => {
  const from = Date.parse('2026-03-29T03:07:00+02:00');
  const range = { from, to: from + 1, step, timeZone: 'Europe/Zurich' };
  expect(timeBoundaries(range)).toEqual([Date.parse(start), Date.parse(end)]);
});

const anyRange = fc.record({
  from: fc.integer({ min: 0, max: 4e12 }),
  lengthMs: fc.integer({ min: 1, max: 40 * 24 * hourMs }),
  step: fc.constantFrom<ChartStep>('hour', 'day', 'week', 'month'),
  timeZone: fc.constantFrom(...zones),
});

test('buckets are whole minutes, consecutive, cover the range, and days begin when the date changes', () => {
  fc.assert(
    fc.property(anyRange, ({ from, lengthMs, step, timeZone }) => {
      const to = from + lengthMs;
      const boundaries = timeBoundaries({ from, to, step, timeZone });
      const [first = 0, last = 0] = [boundaries[0], boundaries.at(-1)];
      expect(first).toBeLessThanOrEqual(from);
      expect(last).toBeGreaterThanOrEqual(to);
      expect(boundaries.at(-2)).toBeLessThan(to);
      for (const [place, at] of boundaries.entries()) {
        expect(Math.abs(at % 60_000)).toBe(0);
        if (place > 0) expect(at).toBeGreaterThan(boundaries[place - 1] ?? 0);
        if (step !== 'hour') {
          expect(local(at - 1, timeZone).slice(0, 10)).not.toBe(local(at, timeZone).slice(0, 10));
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('the ranges of statistics cover each minute of a bucket once, and no other minute', () => {
  fc.assert(
    fc.property(anyRange, ({ from, lengthMs, step, timeZone }) => {
      const boundaries = timeBoundaries({ from, to: from + Math.min(lengthMs, 9e7), step, timeZone });
      const covered = coverBuckets(boundaries).flatMap(({ spanHours, from, to }) => {
        if (spanHours > 0) expect(Math.abs(from % spanHours) + Math.abs(to % spanHours)).toBe(0);
        const unit = spanHours === 0 ? 1 : 60;
        return Array.from({ length: (to - from) * unit }, (_, i) => from * unit + i);
      });
      const [first = 0, last = 0] = [boundaries[0], boundaries.at(-1)];
      const expected = Array.from({ length: (last - first) / 60_000 }, (_, i) => first / 60_000 + i);
      expect(covered.toSorted((a, b) => a - b)).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test('each row of statistics lies in one bucket: no bucket begins within a span of a roll-up', () => {
  fc.assert(
    fc.property(anyRange, (range) => {
      const boundaries = timeBoundaries({ ...range, to: range.from + Math.min(range.lengthMs, 9e8) });
      return coverBuckets(boundaries).every(({ spanHours, from, to }) =>
        boundaries.every((ms) => {
          const hour = ms / hourMs;
          return spanHours === 0 || hour <= from || hour >= to || hour % spanHours === 0;
        }),
      );
    }),
    { numRuns: 60 },
  );
});

test('a chart by minute or by hour reads one range, and a day few, in any zone', () => {
  const from = Date.UTC(2026, 2, 20);
  for (const step of ['minute', 'hour'] as const)
    expect(
      coverBuckets(timeBoundaries({ from, to: from + 20 * hourMs, step, timeZone: 'UTC' })),
    ).toHaveLength(1);
  for (const timeZone of zones) {
    const boundaries = timeBoundaries({ from, to: from + 20 * 24 * hourMs, step: 'day', timeZone });
    expect(coverBuckets(boundaries).length).toBeLessThanOrEqual(5 * 20);
  }
});

test.each([
  [{ from: 1, to: 1 }, 'to: must be later'],
  [{ from: 0, to: 1e12 }, 'to: the range has more than 1500 buckets'],
])('the range %j is rejected', (range, message) => {
  expect(() => timeBoundaries({ ...range, step: 'hour', timeZone: 'UTC' })).toThrow(message);
});
