import type { ListedEvent } from '../events/listed-event.ts';

/** A message of a live stream. Its tracked id is the position after it: a client that sends it back misses nothing. */
export type LiveMessage =
  /** Events in the order in which they were stored, at least one. Each event comes once. */
  | { type: 'events'; events: ListedEvent[] }
  /**
   * The stream is up to date at this position; it is sent at the beginning, from time to time, and when `isDelayed` changes.
   * Delayed: events have been stored and cannot be shown yet, because a long transaction is running or Postgres is away.
   */
  | { type: 'status'; isDelayed: boolean }
  /** The stream was too far behind and goes on with the newest events. `live.since` reads what lies between. */
  | { type: 'skipped'; skipped: SkippedEvents };

export interface SkippedEvents {
  /** How many events were stored meanwhile, at most, before the filter; null when that is not known. */
  events: number | null;
  /** Whether `events` is only a part of them: more were not counted. */
  isAtLeast: boolean;
  /** The input of `live.since` that reads them: `after`, until its `cursor` reaches `until`. */
  after: string;
  until: string;
}
