import postgres from 'postgres';
import { lockedSpaceMs } from '../limits.ts';

/** lock_not_available */
const lockNotAvailable = '55P03';

export function isLockTimeout(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === lockNotAvailable;
}

/**
 * Spaces whose rows another transaction held at the last attempt. One statement retries from time to time,
 * and others leave the space out: the transaction blocks at most one worker.
 */
export class LockedSpaces {
  readonly #untilMs = new Map<string, number>();

  note(spaceId: string): void {
    this.#untilMs.set(spaceId, performance.now() + lockedSpaceMs);
  }

  /** The space's events were stored: its rows are no longer locked. */
  forget(spaceId: string): void {
    this.#untilMs.delete(spaceId);
  }

  /** Whether the space waits. When a retry is due, only the caller that gets false retries. */
  mustWait(spaceId: string): boolean {
    const untilMs = this.#untilMs.get(spaceId);
    if (untilMs === undefined) return false;
    if (untilMs > performance.now()) return true;
    this.note(spaceId);
    return false;
  }
}
