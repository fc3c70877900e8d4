import { countBits, latencyBuckets, latencyOf } from './latency.ts';

/** Sums stored sketches, half a million elements for a month, in one array that can be cleared and reused. */
export class LatencySketch {
  readonly #counts = new Float64Array(latencyBuckets);
  #total = 0;
  /** Buckets outside of `#first` (inclusive) to `#end` (exclusive) are empty. */
  #first = latencyBuckets;
  #end = 0;

  /** An element of a stored sketch: a whole number below 2^53, which a double holds. */
  add(element: number): void {
    const bucket = Math.floor(element / 2 ** countBits);
    this.#addTo(bucket, signed(element - bucket * 2 ** countBits));
  }

  /**
   * Concatenated sketches in Postgres's binary array format (`array_send`): text takes three times as long.
   * @param times -1 subtracts sketches that were added with others.
   */
  addBinary(arrays: Uint8Array, times: 1 | -1 = 1): void {
    const view = new DataView(arrays.buffer, arrays.byteOffset, arrays.byteLength);
    for (let at = 0; at < view.byteLength; ) {
      const isEmpty = view.getInt32(at) === 0;
      const length = isEmpty ? 0 : view.getInt32(at + headBytes);
      at += headBytes + (isEmpty ? 0 : dimensionBytes);
      for (const end = at + length * elementBytes; at < end; at += elementBytes) {
        const high = view.getUint32(at + lengthBytes);
        const low = view.getUint32(at + lengthBytes + 4);
        this.#addTo(high >>> highCountBits, times * signed((high & highCountMask) * 2 ** 32 + low));
      }
    }
  }

  merge(other: LatencySketch): void {
    for (let bucket = other.#first; bucket < other.#end; bucket++) {
      const count = other.#counts[bucket] ?? 0;
      if (count !== 0) this.#addTo(bucket, count);
    }
  }

  /**
   * Quantiles in milliseconds, within 5 %, by the nearest rank: the least duration that so large a part does
   * not exceed. So p99 of fewer than a hundred is the slowest.
   * @param quantiles 0 to 1, ascending. @returns undefined for each when nothing was counted.
   */
  quantiles(quantiles: readonly number[]): (number | undefined)[] {
    let bucket = this.#first;
    let before = 0;
    return quantiles.map((quantile) => {
      const rank = Math.max(1, Math.ceil(quantile * this.#total));
      for (; bucket < this.#end; bucket++) {
        const count = this.#counts[bucket] ?? 0;
        if (rank <= before + count) return latencyOf(bucket);
        before += count;
      }
      return undefined;
    });
  }

  clear(): void {
    this.#counts.fill(0, this.#first, this.#end);
    this.#total = 0;
    this.#first = latencyBuckets;
    this.#end = 0;
  }

  #addTo(bucket: number, count: number): void {
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    this.#total += count;
    if (bucket < this.#first) this.#first = bucket;
    if (bucket >= this.#end) this.#end = bucket + 1;
  }
}

/** Counts wrap around: an event may be subtracted before its row is folded (ADR 0040). */
function signed(count: number): number {
  return count < 2 ** (countBits - 1) ? count : count - 2 ** countBits;
}

/**
 * An array starts with its number of dimensions, flags, element type, and each dimension's length and bound.
 */
const headBytes = 12;
const dimensionBytes = 8;
/** Each element is its length, then eight bytes in big-endian order. */
const lengthBytes = 4;
const elementBytes = lengthBytes + 8;
/** The upper four bytes of an element hold the bucket, and the upper bits of the count. */
const highCountBits = countBits - 32;
const highCountMask = 2 ** highCountBits - 1;
