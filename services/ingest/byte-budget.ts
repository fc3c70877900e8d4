import { spaceShareOfBudget } from '../../lib/limits.ts';

/** Where one request's bytes are counted. */
export interface ByteBudget {
  /** Takes bytes for as long as they are held; false when they do not fit. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/**
 * The bytes of request bodies that ingest holds at once. What does not fit is refused, so that memory stays bounded
 * however many clients send, and however slowly the queue takes it. No space may hold all of it: a few dozen requests
 * that stall would make everybody else wait for their time-out.
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

  /** The budget as a request to that space has it. */
  of(spaceId: string): ByteBudget {
    return {
      take: (bytes) => {
        const ofSpace = (this.#usedBySpace.get(spaceId) ?? 0) + bytes;
        if (ofSpace > this.#spaceMax || this.#used + bytes > this.#max) return false;
        this.#note(spaceId, ofSpace, bytes);
        return true;
      },
      release: (bytes) => this.#note(spaceId, (this.#usedBySpace.get(spaceId) ?? 0) - bytes, -bytes),
    };
  }

  #note(spaceId: string, ofSpace: number, change: number): void {
    this.#used += change;
    if (ofSpace < 0 || this.#used < 0) throw new Error('more bytes released than taken');
    if (ofSpace === 0) this.#usedBySpace.delete(spaceId);
    else this.#usedBySpace.set(spaceId, ofSpace);
  }
}
