import type { QueuePosition } from '../../../platform/queue/failover.ts';

/** For each stream, the sequence up to which the writers have committed all messages. */
export type StoredUpTo = ReadonlyMap<string, number>;

/** A number of accepted events, and for each stream the last sequence that holds some of them. */
interface Accepted {
  events: number;
  readonly lastSequences: Map<string, number>;
}

/**
 * Counts the accepted events of one space that the count in Postgres may not include yet. It is an upper
 * bound: some may be duplicates. Only two sums are kept, so that memory stays constant while no writer runs:
 * when the older sum is stored, the newer one replaces it.
 */
export class PendingEvents {
  #older = noEvents();
  #newer = noEvents();

  get count(): number {
    return this.#older.events + this.#newer.events;
  }

  add(events: number, { stream, sequence }: QueuePosition): void {
    const { lastSequences } = this.#newer;
    this.#newer.events += events;
    lastSequences.set(stream, Math.max(lastSequences.get(stream) ?? 0, sequence));
  }

  /** The last message of each stream that holds some of the events, for both sums. */
  positions(): QueuePosition[] {
    return [this.#older, this.#newer].flatMap(({ lastSequences }) =>
      Array.from(lastSequences, ([stream, sequence]) => ({ stream, sequence })),
    );
  }

  /** Drops the sums that are stored. The caller must have read the count in Postgres after this position. */
  dropStored(storedUpTo: StoredUpTo): void {
    for (let sums = 0; sums < 2 && isStored(this.#older, storedUpTo); sums++) {
      this.#older = this.#newer;
      this.#newer = noEvents();
    }
  }
}

function noEvents(): Accepted {
  return { events: 0, lastSequences: new Map() };
}

function isStored({ lastSequences }: Accepted, storedUpTo: StoredUpTo): boolean {
  return lastSequences.entries().every(([stream, sequence]) => (storedUpTo.get(stream) ?? 0) >= sequence);
}
