/**
 * A space may use this many times the bytes that are then left: alone three quarters of the budget, beside
 * one that does the same three sevenths. So however many spaces take all they can, a newcomer finds bytes
 * left.
 */
export const spaceShareOfFree = 3;

/** Counts the bytes of one space's requests. */
export interface ByteBudget {
  readonly spaceId: string;
  /** Counts bytes until they are released. @returns false, without counting them, when they do not fit. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/**
 * Bounds the bytes of requests that ingest holds at once. Requests that do not fit are rejected, so that
 * memory stays bounded however many clients send and however slow the queue is. Otherwise a few dozen stalled
 * requests of one space would block all others until their time-out.
 */
export class ByteBudgets {
  readonly #max: number;
  readonly #usedBySpace = new Map<string, number>();
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get usedBytes(): number {
    return this.#used;
  }

  get bytesMax(): number {
    return this.#max;
  }

  of(spaceId: string): ByteBudget {
    return {
      spaceId,
      take: (bytes) => {
        const ofSpace = (this.#usedBySpace.get(spaceId) ?? 0) + bytes;
        const left = this.#max - this.#used - bytes;
        if (ofSpace > spaceShareOfFree * left) return false;
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
