import { expect, test } from 'vitest';
import { flagEvent } from './event-flags.ts';

const receivedAt = new Date(10_000);
const plain = {
  startTimeMs: 0,
  endTimeMs: 10,
  durationMs: 10,
  receivedAt,
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  priceClass: null,
};

test.each([
  { startTimeMs: 0, endTimeMs: 10, durationMs: 10, flags: [] },
  { startTimeMs: 0, endTimeMs: 10, durationMs: 11, flags: [] },
  { startTimeMs: 0, endTimeMs: 10, durationMs: 11.5, flags: ['duration_mismatch'] },
  { startTimeMs: 10, endTimeMs: 0, durationMs: -10, flags: ['ends_before_start'] },
  { startTimeMs: 10, endTimeMs: 0, durationMs: 10, flags: ['ends_before_start', 'duration_mismatch'] },
  { startTimeMs: 11_900, endTimeMs: 12_000, durationMs: 100, flags: [] },
  { startTimeMs: 11_901, endTimeMs: 12_001, durationMs: 100, flags: ['clock_ahead'] },
  { startTimeMs: -1e9, endTimeMs: -1e9 + 10, durationMs: 10, flags: [] },
])(
  '$startTimeMs to $endTimeMs in $durationMs ms, received at 10,000, is flagged $flags',
  ({ flags, ...times }) => {
    expect(flagEvent({ ...plain, ...times }, false)).toEqual(flags);
  },
);

test('contradictory counts, and a cost that prices do not give, are flagged', () => {
  const values = { ...plain, priceClass: 'priority contradictory' };
  expect(flagEvent(values, true)).toEqual(['contradictory_usage', 'cost_mismatch']);
});

test.each([
  { inputTokens: 12, outputTokens: 3, totalTokens: 15, flags: [] },
  { inputTokens: 12, outputTokens: 3, totalTokens: 16, flags: ['token_sum_mismatch'] },
  { inputTokens: 12, outputTokens: null, totalTokens: 16, flags: [] },
  { inputTokens: 0, outputTokens: 0, totalTokens: 1, flags: ['token_sum_mismatch'] },
])('$inputTokens and $outputTokens of $totalTokens tokens are flagged $flags', ({ flags, ...tokens }) => {
  expect(flagEvent({ ...plain, ...tokens }, false)).toEqual(flags);
});
