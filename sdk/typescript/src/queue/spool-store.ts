import type { QueuedEvent } from './queue.ts';

/**
 * Stores events on disk until Weir has accepted them. `@weir/sdk/spool` implements it for Node, Bun and Deno.
 */
export interface SpoolStore {
  /** Number of events on disk, and their bytes. */
  readonly events: number;
  readonly bytes: number;
  /**
   * Appends events, synchronously: after it returns they survive the end of the process. Called for each
   * event.
   *
   * @returns how many of them, from the front, were written.
   */
  append(events: readonly QueuedEvent[]): number;
  /**
   * Reads the oldest batch; it stays on disk until `release`.
   *
   * @param onLost called with events that were deleted because of their age, or that cannot be read.
   */
  next(onLost: (reason: 'expired' | 'damaged', events: number) => void): Promise<SpooledBatch | undefined>;
  /** Restarts the age of everything on disk: waiting for a quota does not count. */
  renew(): void;
  /** Releases the lock. The next process delivers the events on disk. */
  close(): void;
}

export interface SpooledBatch {
  readonly events: QueuedEvent[];
  /** Deletes the batch from disk: all of its events are settled. */
  release(): void;
}
