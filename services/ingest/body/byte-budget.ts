import { spaceShareOfBudget } from '../limits.ts';

/** Counts the bytes of one space's requests. */
export interface ByteBudget {
  /** Counts bytes until they are released. @returns false, and counts nothing, when they do not fit. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/**
 * Bounds the bytes of requests that ingest holds at once. What does not fit is rejected, so that memory stays bounded
 * however many clients send and however slowly the queue accepts. One space may hold a part of them only: a few dozen
 * stalled requests would otherwise make everybody wait for their time-out.
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
