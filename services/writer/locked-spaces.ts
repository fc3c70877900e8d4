import postgres from 'postgres';
import { lockedSpaceMs } from './limits.ts';

/** lock_not_available */
const lockNotAvailable = '55P03';

/** Whether a statement gave up because another transaction held a lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === lockNotAvailable;
}

/**
 * The spaces in which another transaction held rows that the store statement needs. For some seconds no statement waits for
 * them again, so that such a transaction takes little of the time in which other spaces are stored.
 */
export class LockedSpaces {
  readonly #untilMs = new Map<string, number>();

  note(spaceId: string): void {
    this.#untilMs.set(spaceId, performance.now() + lockedSpaceMs);
  }

  has(spaceId: string): boolean {
    const untilMs = this.#untilMs.get(spaceId);
    if (untilMs !== undefined && untilMs <= performance.now()) this.#untilMs.delete(spaceId);
    return this.#untilMs.has(spaceId);
  }
}
