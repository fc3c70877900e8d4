/**
 * The bytes of request bodies that ingest holds at once. What does not fit is refused, so that memory stays bounded
 * however many clients send, and however slowly the queue takes it.
 */
export class ByteBudget {
  readonly #max: number;
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes bytes for as long as they are held; false when they do not fit. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#max) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    if (this.#used < 0) throw new Error('more bytes released than taken');
  }
}
