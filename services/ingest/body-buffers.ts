import { bodyBytesMax, envelopeBytes } from '../../lib/limits.ts';
import { freeMemory } from './free-memory.ts';

/**
 * A body moves into a buffer of four megabytes when this much of it has arrived. What a client declares counts for
 * nothing: thousands of slow ones would each hold a buffer for a few bytes.
 */
const pooledBytesMin = 256 * 1024;

/** Most buffers kept for later; what more is needed at once is allocated and let go. */
const spareBuffersMax = 8;

const spareBuffers: Buffer[] = [];

/**
 * Memory for one request body. Large bodies take turns with a few buffers: memory outside of V8's heap is what makes
 * it collect its garbage, and one of 3 MB a request made it do so every eighth request (ADR 0008).
 */
export class BodyBuffer {
  #pooled: Buffer | undefined;
  #chunks: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The caller has checked that the body stays within `bodyBytesMax` and an envelope. */
  add(chunk: Buffer): void {
    if (this.#pooled === undefined) this.#chunks.push(chunk);
    else this.#copy(chunk, this.#pooled, this.#length);
    this.#length += chunk.length;
    if (this.#pooled === undefined && this.#length >= pooledBytesMin) this.#moveToPooled();
  }

  /** The whole body. It is valid until `release`. */
  toBytes(): Buffer {
    if (this.#pooled !== undefined) return this.#pooled.subarray(0, this.#length);
    const chunks = this.#chunks;
    if (chunks.length !== 1) {
      this.#chunks = [Buffer.concat(chunks, this.#length)];
      chunks.forEach(freeMemory);
    }
    return this.#chunks[0] as Buffer;
  }

  release(): void {
    this.#chunks.forEach(freeMemory);
    this.#chunks = [];
    if (this.#pooled !== undefined && spareBuffers.length < spareBuffersMax) spareBuffers.push(this.#pooled);
    this.#pooled = undefined;
  }

  #moveToPooled(): void {
    const pooled = spareBuffers.pop() ?? Buffer.allocUnsafeSlow(bodyBytesMax + envelopeBytes);
    let end = 0;
    for (const chunk of this.#chunks) end += this.#copy(chunk, pooled, end);
    this.#pooled = pooled;
    this.#chunks = [];
  }

  #copy(chunk: Buffer, target: Buffer, at: number): number {
    const copied = chunk.copy(target, at);
    freeMemory(chunk);
    return copied;
  }
}
