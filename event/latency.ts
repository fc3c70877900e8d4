import { timeMsMax } from '../platform/limits.ts';

/**
 * The latency sketch of the statistics: DDSketch (Masson, Rim, Lee: "DDSketch: a fast and fully-mergeable
 * quantile sketch with relative-error guarantees", VLDB 2019) without a bound on its buckets. Bucket i counts
 * the durations in (γ^(i-1), γ^i]; each is within 5% of the value that represents the bucket. Sketches are
 * merged by adding the counts of equal buckets.
 *
 * A stored sketch is an array of bigint: each element is a bucket's number times 2^40, plus a count. The
 * counts of elements of one bucket are added up; there may be several, in any order. Stored sketches depend
 * on these constants: they must not change.
 */
export const latencyAccuracy = 0.05;

const gamma = (1 + latencyAccuracy) / (1 - latencyAccuracy);

/** Bucket numbers per natural logarithm of a duration in milliseconds. */
export const bucketsPerLogMs = 1 / Math.log(gamma);

/** Durations up to this one, including negative ones, are in bucket 0, which represents 0 ms. */
export const latencyMsMin = 0.001;

/** Added to i, so that bucket numbers start at 1. The largest duration is in bucket 437. */
export const bucketOffset = 70;

/** An element of a stored sketch is `bucket << countBits | count`. */
export const countBits = 40;

/**
 * A stored sketch is merged once per this many events. Between merges it has at most this many elements more
 * than buckets.
 */
export const countsPerMerge = 64;

/** The number of the bucket that counts a duration. */
export function latencyBucketOf(durationMs: number): number {
  if (durationMs <= latencyMsMin) return 0;
  return Math.ceil(Math.log(durationMs) * bucketsPerLogMs) + bucketOffset;
}

/**
 * The number of buckets. One more than the largest duration needs, because Postgres's logarithm may round
 * differently.
 */
export const latencyBuckets = latencyBucketOf(timeMsMax) + 2;

/** The duration that represents a bucket, in milliseconds. */
export function latencyOf(bucket: number): number {
  return bucket === 0 ? 0 : (2 * gamma ** (bucket - bucketOffset)) / (gamma + 1);
}
