import { expect, test } from 'vitest';
import { timeMsMax } from '../platform/limits.ts';
import { latencyQuantile } from '../test/support/tools/latency-quantile.ts';
import { countBits, latencyAccuracy, latencyBucketOf, latencyBuckets, latencyMsMin } from './latency.ts';
import { LatencySketch } from './latency-sketch.ts';

const sketchOf = (durations: readonly number[]) =>
  durations.map((duration) => (BigInt(latencyBucketOf(duration)) << BigInt(countBits)) | 1n);

test('every duration is within 5% of the value of its bucket', () => {
  for (let duration = latencyMsMin * 1.001; duration < timeMsMax; duration *= 1.037) {
    const estimate = latencyQuantile([sketchOf([duration])], 0.5) ?? Number.NaN;
    expect(Math.abs(estimate - duration) / duration).toBeLessThanOrEqual(latencyAccuracy + 1e-9);
  }
});

test('durations of zero or less are counted as 0', () => {
  for (const duration of [0, -5, latencyMsMin, -timeMsMax]) {
    expect(latencyBucketOf(duration)).toBe(0);
    expect(latencyQuantile([sketchOf([duration])], 1)).toBe(0);
  }
  expect(latencyBucketOf(latencyMsMin * 1.001)).toBe(1);
});

test('quantiles of merged sketches are those of all durations together, within 5%', () => {
  const durations = Array.from({ length: 1_000 }, (_, i) => 20 + i ** 1.7);
  const halves = [durations.slice(0, 300), durations.slice(300)].map(sketchOf);
  for (const quantile of [0, 0.5, 0.95, 0.99, 1]) {
    const exact = durations[Math.max(0, Math.ceil(quantile * 1_000) - 1)] ?? Number.NaN;
    const estimate = latencyQuantile(halves, quantile) ?? Number.NaN;
    expect(Math.abs(estimate - exact) / exact).toBeLessThanOrEqual(latencyAccuracy + 1e-9);
  }
  expect(latencyQuantile([[]], 0.5)).toBeUndefined();
});

test.each([
  [[1, 665], 0.99, 665],
  [[1, 665], 0.5, 1],
  [[...Array<number>(98).fill(1), 665], 0.99, 665],
  [[...Array<number>(99).fill(1), 665], 0.99, 1],
  [[...Array<number>(18).fill(1), 665], 0.95, 665],
  [[...Array<number>(19).fill(1), 665], 0.95, 1],
])(
  'a quantile is the least duration that so large a part does not exceed: %j, %d',
  (durations, quantile, exact) => {
    const estimate = latencyQuantile([sketchOf(durations)], quantile) ?? Number.NaN;
    expect(Math.abs(estimate - exact) / exact).toBeLessThanOrEqual(latencyAccuracy + 1e-9);
  },
);

test('a sketch may subtract an event that another one counts', () => {
  const subtracted = sketchOf([5_000]).map((element) => element | (2n ** BigInt(countBits) - 1n));
  for (const sketches of [
    [sketchOf([20, 20, 5_000]), subtracted],
    [subtracted, sketchOf([5_000, 20, 20])],
  ]) {
    const estimate = latencyQuantile(sketches, 1) ?? Number.NaN;
    expect(Math.abs(estimate - 20) / 20).toBeLessThanOrEqual(latencyAccuracy + 1e-9);
    const sketch = new LatencySketch();
    for (const elements of sketches) sketch.addBinary(binaryOf(elements));
    expect(sketch.quantiles([1])).toEqual([estimate]);
  }
});

test('a sketch has a bucket for the largest duration', () => {
  expect(latencyBucketOf(timeMsMax)).toBeLessThan(latencyBuckets);
  expect(latencyQuantile([sketchOf([timeMsMax])], 1)).toBeDefined();
});

/** A sketch in the format of `array_send`. */
function binaryOf(elements: readonly bigint[]): Buffer {
  const head = Buffer.alloc(elements.length === 0 ? 12 : 20);
  head.writeInt32BE(elements.length === 0 ? 0 : 1, 0);
  head.writeInt32BE(20, 8);
  if (elements.length > 0) head.writeInt32BE(elements.length, 12);
  const body = elements.map((element) => {
    const bytes = Buffer.alloc(12);
    bytes.writeInt32BE(8);
    bytes.writeBigInt64BE(element, 4);
    return bytes;
  });
  return Buffer.concat([head, ...body]);
}

test('binary sketches give the same quantiles as their elements, and a cleared sketch is empty', () => {
  const [short, long] = [sketchOf([3, 3, 70, 900]), [...sketchOf([0, 12, 40_000]), (9n << 40n) + 2n ** 39n]];
  const sketch = new LatencySketch();
  sketch.addBinary(binaryOf(sketchOf([5])));
  sketch.clear();
  expect(sketch.quantiles([0.5])).toEqual([undefined]);
  sketch.addBinary(Buffer.concat([binaryOf(short), binaryOf([]), binaryOf(short)]));
  const other = new LatencySketch();
  other.addBinary(binaryOf(long));
  sketch.merge(other);
  for (const elements of [[short, short], [long]]) {
    const one = new LatencySketch();
    for (const element of elements.flat()) one.add(Number(element));
    sketch.merge(one);
  }
  const quantiles = [0, 1e-12, 3e-12, 0.5, 1];
  const all = [short, short, long, short, short, long];
  expect(sketch.quantiles(quantiles)).toEqual(quantiles.map((one) => latencyQuantile(all, one)));
});
