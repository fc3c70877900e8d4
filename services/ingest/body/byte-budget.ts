/** The share of the byte budget that one space may use, so that its stalled requests leave room for other spaces. */
export const spaceShareOfBudget = 0.75;

/** Counts the bytes of one space's requests. */
export interface ByteBudget {
  /** Counts bytes until they are released. @returns false, without counting them, when they do not fit. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/**
 * Bounds the bytes of requests that ingest holds at once. Requests that do not fit are rejected, so that memory stays
 * bounded however many clients send and however slow the queue is. One space may use only a part of the budget: otherwise a
 * few dozen stalled requests of one space would block all others until their time-out.
 */
export class ByteBudgets {
  readonly #max: number;
  readonly #spaceMax: number;
  readonly #usedBySpace = new Map<string, number>();
  #used = 0;

  constructor(max: number) {
    this.#max = max;
    this.#spaceMax = Math.floor(max * spaceShareOfBudget);
  }

  get usedBytes(): number {
    return this.#used;
  }

  get bytesMax(): number {
    return this.#max;
  }

  of(spaceId: string): ByteBudget {
    return {
      take: (bytes) => {
        const ofSpace = (this.#usedBySpace.get(spaceId) ?? 0) + bytes;
        if (ofSpace > this.#spaceMax || this.#used + bytes > this.#max) return false;
        this.#update(spaceId, ofSpace, bytes);
        return true;
      },
      release: (bytes) => this.#update(spaceId, (this.#usedBySpace.get(spaceId) ?? 0) - bytes, -bytes),
    };
  }

  #update(spaceId: string, ofSpace: number, change: number): void {
    this.#used += change;
    if (ofSpace < 0 || this.#used < 0) throw new Error('more bytes released than taken');
    if (ofSpace === 0) this.#usedBySpace.delete(spaceId);
    else this.#usedBySpace.set(spaceId, ofSpace);
  }
}
