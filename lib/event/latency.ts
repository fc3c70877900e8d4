import { timeMsMax } from '../limits.ts';

/**
 * The latency sketch of the statistics: DDSketch (Masson, Rim, Lee: "DDSketch: a fast and fully-mergeable quantile sketch
 * with relative-error guarantees", VLDB 2019) without a bound on its buckets. Bucket i counts the durations in
 * (γ^(i-1), γ^i], and any of them is at most 5 % off the value that stands for the bucket. Sketches are merged by adding
 * the counts of equal buckets.
 *
 * A stored sketch is an array of bigint: each element is a bucket's number times 2^40, plus a count. The counts of elements of
 * one bucket are added up; there may be several, in any order. Stored sketches depend on these constants: they must not change.
 */
export const latencyAccuracy = 0.05;

const gamma = (1 + latencyAccuracy) / (1 - latencyAccuracy);

/** Bucket numbers per natural logarithm of a duration in milliseconds. */
export const bucketsPerLogMs = 1 / Math.log(gamma);

/** Durations up to this, negative ones too, are in bucket 0, which stands for 0 ms. */
export const latencyMsMin = 0.001;

/** Added to i, so that the numbers of the buckets begin with 1. The largest duration has number 437. */
export const bucketOffset = 70;

/** An element of a stored sketch is `bucket << countBits | count`. */
export const countBits = 40;

/** A stored sketch is merged once in so many events. In between it has up to so many elements more than buckets. */
export const countsPerMerge = 64;

/** The number of the bucket that counts a duration. */
export function latencyBucketOf(durationMs: number): number {
  if (durationMs <= latencyMsMin) return 0;
  return Math.ceil(Math.log(durationMs) * bucketsPerLogMs) + bucketOffset;
}

/** How many buckets there are. One more than the largest duration needs: Postgres computes the logarithm by itself. */
export const latencyBuckets = latencyBucketOf(timeMsMax) + 2;

/** The duration that stands for a bucket, in milliseconds. */
export function latencyOf(bucket: number): number {
  return bucket === 0 ? 0 : (2 * gamma ** (bucket - bucketOffset)) / (gamma + 1);
}
