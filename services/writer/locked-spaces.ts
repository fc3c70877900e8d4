import postgres from 'postgres';
import { lockedSpaceMs } from './limits.ts';

/** lock_not_available */
const lockNotAvailable = '55P03';

/** Whether a statement gave up because another transaction held a lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === lockNotAvailable;
}

/**
 * The spaces in which another transaction held rows that the store statement needs. Now and then one statement tries them again;
 * all others leave them out, so that such a transaction occupies one worker at most.
 */
export class LockedSpaces {
  readonly #untilMs = new Map<string, number>();

  note(spaceId: string): void {
    this.#untilMs.set(spaceId, performance.now() + lockedSpaceMs);
  }

  /** Its events were stored: nothing holds its rows any more. */
  forget(spaceId: string): void {
    this.#untilMs.delete(spaceId);
  }

  /** Whether the space has to wait. Where it is due, the caller tries it, and the others go on waiting. */
  mustWait(spaceId: string): boolean {
    const untilMs = this.#untilMs.get(spaceId);
    if (untilMs === undefined) return false;
    if (untilMs > performance.now()) return true;
    this.note(spaceId);
    return false;
  }
}
