import type { BufferPool } from './buffer-pool.ts';
import { detachBuffer } from './detach-buffer.ts';

/**
 * A body moves into a buffer of the pool once it has this many bytes. The declared length is not used:
 * thousands of slow clients would each occupy 4 MB for a few bytes.
 */
const pooledBytesMin = 256 * 1024;

/**
 * Collects the chunks of one body: a small body stays in its chunks, a large one is copied to a buffer of the
 * pool, and a body larger than that to a separate buffer, which grows.
 */
export class BodyBuffer {
  readonly #pool: BufferPool;
  #whole: { readonly bytes: Buffer; readonly isPooled: boolean } | undefined;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(pool: BufferPool) {
    this.#pool = pool;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a chunk. The caller must not use it afterwards. */
  add(chunk: Buffer): void {
    if (this.#whole === undefined) this.#chunks.push(chunk);
    else this.#append(chunk);
    this.#length += chunk.length;
    if (this.#whole === undefined && this.#length >= pooledBytesMin) this.#moveToPooled();
  }

  /** The whole body. It is valid until `release`. */
  toBytes(): Buffer {
    if (this.#whole !== undefined) return this.#whole.bytes.subarray(0, this.#length);
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const joined = Buffer.concat(this.#chunks, this.#length);
    this.#chunks.forEach(detachBuffer);
    this.#chunks = [joined];
    return joined;
  }

  /** Frees the body's memory. Calling it again has no effect. */
  release(): void {
    this.#chunks.forEach(detachBuffer);
    this.#chunks = [];
    this.#releaseWhole();
    this.#whole = undefined;
  }

  #append(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (this.#whole !== undefined && needed > this.#whole.bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#whole.bytes.length));
      this.#whole.bytes.copy(bytes, 0, 0, this.#length);
      this.#releaseWhole();
      this.#whole = { bytes, isPooled: false };
    }
    this.#whole?.bytes.set(chunk, this.#length);
    detachBuffer(chunk);
  }

  #moveToPooled(): void {
    const chunks = this.#chunks;
    this.#whole = { bytes: this.#pool.take(), isPooled: true };
    this.#chunks = [];
    this.#length = 0;
    for (const chunk of chunks) {
      this.#append(chunk);
      this.#length += chunk.length;
    }
  }

  #releaseWhole(): void {
    if (this.#whole?.isPooled) this.#pool.release(this.#whole.bytes);
    else if (this.#whole !== undefined) detachBuffer(this.#whole.bytes);
  }
}
