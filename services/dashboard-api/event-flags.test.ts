import { expect, test } from 'vitest';
import { flagEvent } from './event-flags.ts';

test.each([
  { startTimeMs: 0, endTimeMs: 10, durationMs: 10, flags: [] },
  { startTimeMs: 0, endTimeMs: 10, durationMs: 11, flags: [] },
  { startTimeMs: 0, endTimeMs: 10, durationMs: 11.5, flags: ['duration_mismatch'] },
  { startTimeMs: 10, endTimeMs: 0, durationMs: -10, flags: ['ends_before_start'] },
  { startTimeMs: 10, endTimeMs: 0, durationMs: 10, flags: ['ends_before_start', 'duration_mismatch'] },
])('$startTimeMs to $endTimeMs in $durationMs ms is flagged $flags', ({ flags, ...times }) => {
  expect(flagEvent(times)).toEqual(flags);
});
