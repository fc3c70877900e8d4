import { expect, test } from 'vitest';
import { timeMsMax } from '../limits.ts';
import { countBits, latencyAccuracy, latencyBucketOf, latencyMsMin, latencyQuantile } from './latency.ts';

const sketchOf = (durations: readonly number[]) =>
  durations.map((duration) => (BigInt(latencyBucketOf(duration)) << BigInt(countBits)) | 1n);

test('every duration is within 5 % of what its bucket stands for', () => {
  for (let duration = latencyMsMin * 1.001; duration < timeMsMax; duration *= 1.037) {
    const estimate = latencyQuantile([sketchOf([duration])], 0.5) ?? Number.NaN;
    expect(Math.abs(estimate - duration) / duration).toBeLessThanOrEqual(latencyAccuracy + 1e-9);
  }
});

test('durations of nothing, and negative ones, are 0', () => {
  for (const duration of [0, -5, latencyMsMin, -timeMsMax]) {
    expect(latencyBucketOf(duration)).toBe(0);
    expect(latencyQuantile([sketchOf([duration])], 1)).toBe(0);
  }
  expect(latencyBucketOf(latencyMsMin * 1.001)).toBe(1);
});

test('quantiles of merged sketches are those of all durations together, within 5 %', () => {
  const durations = Array.from({ length: 1_000 }, (_, i) => 20 + i ** 1.7);
  const halves = [durations.slice(0, 300), durations.slice(300)].map(sketchOf);
  for (const quantile of [0, 0.5, 0.95, 0.99, 1]) {
    const exact = durations[Math.floor(quantile * 999)] ?? Number.NaN;
    const estimate = latencyQuantile(halves, quantile) ?? Number.NaN;
    expect(Math.abs(estimate - exact) / exact).toBeLessThanOrEqual(latencyAccuracy + 1e-9);
  }
  expect(latencyQuantile([[]], 0.5)).toBeUndefined();
});
