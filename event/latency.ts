import { timeMsMax } from '../platform/limits.ts';

/**
 * DDSketch (Masson, Rim, Lee: "DDSketch: a fast and fully-mergeable quantile sketch with relative-error
 * guarantees", VLDB 2019) without a bound on its buckets. Bucket i counts the durations in (γ^(i-1), γ^i],
 * each within 5% of the bucket's value. A stored sketch is an array of bigint: each element is a bucket's
 * number times 2^40, plus a count; those of one bucket, in any order, are added up. Stored sketches depend on
 * these constants: they must not change.
 */
export const latencyAccuracy = 0.05;

const gamma = (1 + latencyAccuracy) / (1 - latencyAccuracy);

/** Bucket numbers per natural logarithm of a duration in milliseconds. */
export const bucketsPerLogMs = 1 / Math.log(gamma);

/** Shorter durations, also negative ones, are in bucket 0, which represents 0 ms. */
export const latencyMsMin = 0.001;

/** Bucket numbers start at 1. The largest duration is in bucket 437. */
export const bucketOffset = 70;

/** An element of a stored sketch is `bucket << countBits | count`. */
export const countBits = 40;

/** Events after which a stored sketch is merged: it has at most as many elements more than buckets. */
export const countsPerMerge = 64;

export function latencyBucketOf(durationMs: number): number {
  if (durationMs <= latencyMsMin) return 0;
  return Math.ceil(Math.log(durationMs) * bucketsPerLogMs) + bucketOffset;
}

/** The number of buckets: one more than needed, because Postgres's logarithm may round differently. */
export const latencyBuckets = latencyBucketOf(timeMsMax) + 2;

/** The duration that represents a bucket, in milliseconds. */
export function latencyOf(bucket: number): number {
  return bucket === 0 ? 0 : (2 * gamma ** (bucket - bucketOffset)) / (gamma + 1);
}
