import { bodyBytesMax } from '../../lib/limits.ts';

/** Bodies below this are gathered from their chunks: a buffer of four megabytes would be wasted on them. */
const pooledBytesMin = 256 * 1024;

/** Most buffers kept for later; what more is needed at once is allocated and let go. */
const spareBuffersMax = 8;

const spareBuffers: Buffer[] = [];

/**
 * Memory for one request body. Large bodies take turns with a few buffers: memory outside of V8's heap is what makes
 * it collect its garbage, and one of 3 MB a request made it do so every eighth request (ADR 0008).
 */
export class BodyBuffer {
  readonly #pooled: Buffer | undefined;
  #chunks: Buffer[] = [];
  #length = 0;

  /** @param declaredBytes how long the request says its body is; 0 when it does not say. */
  constructor(declaredBytes: number) {
    if (declaredBytes >= pooledBytesMin)
      this.#pooled = spareBuffers.pop() ?? Buffer.allocUnsafeSlow(bodyBytesMax);
  }

  get length(): number {
    return this.#length;
  }

  /** The caller has checked that the body stays within `bodyBytesMax`. */
  add(chunk: Buffer): void {
    if (this.#pooled === undefined) this.#chunks.push(chunk);
    else chunk.copy(this.#pooled, this.#length);
    this.#length += chunk.length;
  }

  /** The whole body. It is valid until `release`. */
  toBytes(): Buffer {
    if (this.#pooled !== undefined) return this.#pooled.subarray(0, this.#length);
    const [only] = this.#chunks;
    return this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.#length);
  }

  release(): void {
    this.#chunks = [];
    if (this.#pooled !== undefined && spareBuffers.length < spareBuffersMax) spareBuffers.push(this.#pooled);
  }
}
