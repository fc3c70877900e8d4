import { bodyBytesMax, envelopeBytes } from '../../../platform/limits.ts';

/** Most buffers kept for reuse. Beyond that they are allocated and left to the garbage collector. */
const spareBuffersMax = 8;

/**
 * Buffers for large bodies, each as large as the largest body. They are reused because V8 also counts memory
 * outside of its heap: with a new buffer of 3 MB for each request it collected garbage at every eighth
 * request (ADR 0008).
 */
export class BufferPool {
  readonly #spare: Buffer[] = [];

  /** A buffer of `bodyBytesMax` and an envelope. Its content is arbitrary. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(bodyBytesMax + envelopeBytes);
  }

  /** Returns a buffer. The caller must not use it afterwards. */
  release(buffer: Buffer): void {
    if (this.#spare.length < spareBuffersMax) this.#spare.push(buffer);
  }
}
