import type { QueuePosition } from '../../../lib/queue/failover.ts';

/** The number of the last stored message of each stream: the writers have committed it and all before it. */
export type StoredUpTo = ReadonlyMap<string, number>;

/** Accepted events, and the last message of each stream that holds some of them. */
interface Accepted {
  events: number;
  readonly lastSequences: Map<string, number>;
}

/**
 * The events of one space that were accepted, and that the count in Postgres may not include yet. An upper bound: some may
 * be duplicates. They are kept as two sums, so that memory is constant however long no writer runs: the newer sum becomes
 * the older one when the older one is stored.
 */
export class PendingEvents {
  #older = nothing();
  #newer = nothing();

  get count(): number {
    return this.#older.events + this.#newer.events;
  }

  add(events: number, { stream, sequence }: QueuePosition): void {
    const { lastSequences } = this.#newer;
    this.#newer.events += events;
    lastSequences.set(stream, Math.max(lastSequences.get(stream) ?? 0, sequence));
  }

  /** The last messages that hold some of them. */
  positions(): QueuePosition[] {
    return [this.#older, this.#newer].flatMap(({ lastSequences }) =>
      Array.from(lastSequences, ([stream, sequence]) => ({ stream, sequence })),
    );
  }

  /** Forgets what is stored. The count must have been read after this position was. */
  dropStored(storedUpTo: StoredUpTo): void {
    for (let sums = 0; sums < 2 && isStored(this.#older, storedUpTo); sums++) {
      this.#older = this.#newer;
      this.#newer = nothing();
    }
  }
}

function nothing(): Accepted {
  return { events: 0, lastSequences: new Map() };
}

function isStored({ lastSequences }: Accepted, storedUpTo: StoredUpTo): boolean {
  return lastSequences.entries().every(([stream, sequence]) => (storedUpTo.get(stream) ?? 0) >= sequence);
}
