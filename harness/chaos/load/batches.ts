import { randomUUID } from 'node:crypto';
import type { Random } from '../../random.ts';
import type { EventSource } from './event-source.ts';
import type { Tenant } from './tenants.ts';

/** A request, and its expected outcome. */
export interface Batch {
  tenant: Tenant;
  ids: readonly string[];
  body: Buffer;
  /** How many copies are sent concurrently. */
  copies: number;
  /** The correct status of an invalid request; undefined for a valid one. */
  expectedError?: 400 | 401;
}

export interface BatchOptions {
  /** A batch has from 1 to this many events. */
  eventsMax: number;
  /** The percentage of batches that repeat ids sent before. */
  repeatPercent: number;
}

/** The percentage of invalid batches: none of their events may ever be stored. */
const invalidPercent = 2;

/** Repeated batches are chosen from the last ones, most of which are still being processed. */
const recentMax = 64;

export function freshIds(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}

/** Generates batches of all sizes, and every way in which an id is sent twice (docs/api.md §1). */
export class BatchGenerator {
  readonly #options: BatchOptions;
  readonly #random: Random;
  readonly #source: EventSource;
  readonly #tenants: readonly [Tenant, ...Tenant[]];
  readonly #recent: Batch[] = [];

  constructor(
    tenants: readonly [Tenant, ...Tenant[]],
    source: EventSource,
    random: Random,
    options: BatchOptions,
  ) {
    this.#tenants = tenants;
    this.#source = source;
    this.#random = random;
    this.#options = options;
  }

  next(): Batch {
    const chance = this.#random.between(1, 100);
    if (chance <= invalidPercent) return this.#invalid();
    const earlier =
      this.#recent.length > 0 && chance <= invalidPercent + this.#options.repeatPercent
        ? this.#recent[this.#random.between(0, this.#recent.length - 1)]
        : undefined;
    const batch = earlier === undefined ? this.#fresh() : this.#repeat(earlier);
    if (this.#recent.push(batch) > recentMax) this.#recent.shift();
    return batch;
  }

  /** A batch of one event with a new id. */
  single(tenant: Tenant): Batch {
    const ids = freshIds(1);
    return { tenant, ids, body: this.#source.makeBody(ids), copies: 1 };
  }

  #fresh(): Batch {
    const tenant = this.#random.pick(this.#tenants);
    const ids = this.#freshIds();
    return { tenant, ids, body: this.#source.makeBody(ids), copies: 1 };
  }

  #freshIds(): string[] {
    return freshIds(this.#random.between(1, this.#options.eventsMax));
  }

  #repeat(earlier: Batch): Batch {
    const again = (changes: Partial<Batch>): Batch => {
      const changed = { ...earlier, copies: 1, ...changes };
      return { ...changed, body: this.#source.makeBody(changed.ids) };
    };
    const kinds: [() => Batch, ...(() => Batch)[]] = [
      // A retry with the same bytes while the first attempt is still being processed.
      () => ({ ...this.#fresh(), copies: 2 }),
      () => ({ ...earlier, copies: 1 }),
      // Ids are unique per space: the same ids in another space are other events.
      () => again({ tenant: this.#random.pick(this.#tenants) }),
      () => again({ ids: earlier.ids.map((id) => id.toUpperCase()) }),
      () =>
        again({ ids: [...earlier.ids.slice(0, earlier.ids.length >> 1), ...this.#freshIds()].slice(0, 500) }),
      () => again({ ids: earlier.ids.toReversed() }),
      // Twice in one batch: the first one is stored.
      () => again({ ids: [...earlier.ids, ...earlier.ids].slice(0, 500) }),
    ];
    return this.#random.pick(kinds)();
  }

  #invalid(): Batch {
    const tenant = this.#random.pick(this.#tenants);
    const ids = this.#freshIds();
    return { tenant, ids, body: this.#source.makeInvalidBody(ids), copies: 1, expectedError: 400 };
  }
}
