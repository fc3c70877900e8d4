import type { QueuedEvent } from './queue.ts';

/** Where events wait on disk while Weir cannot take them. `@weir/sdk/spool` implements it for Node, Bun and Deno. */
export interface SpoolStore {
  /** Events on disk, and their bytes there. */
  readonly events: number;
  readonly bytes: number;
  /**
   * Appends events, synchronously: after it returns they survive a crash of the process.
   *
   * @returns how many fitted, from the front.
   */
  append(events: readonly QueuedEvent[]): number;
  /** Writes a batch that is being sent to a file of its own; undefined if it does not fit. */
  hold(events: readonly QueuedEvent[]): HeldBatch | undefined;
  /**
   * Reads the oldest batch; it stays on disk until `release`.
   *
   * @param onLost is told of events that were deleted for their age, or that cannot be read.
   */
  next(onLost: (reason: 'expired' | 'damaged', events: number) => void): Promise<SpooledBatch | undefined>;
  /** Restarts the age of everything on disk: waiting for a quota does not count. */
  renew(): void;
  /** Gives up the lock. What is on disk is delivered by the next process. */
  close(): void;
}

export interface SpooledBatch {
  readonly events: QueuedEvent[];
  /** Deletes the batch from disk: all of its events are settled. */
  release(): void;
}

export interface HeldBatch {
  /** Deletes the copy: the batch was delivered. */
  release(): void;
  /** Lets `next` return it. */
  keep(): void;
}
