import { randomUUID } from 'node:crypto';
import type { Random } from '../../lib/random.ts';
import type { EventSource } from './event-source.ts';
import type { Tenant } from './tenants.ts';

/** A request, and what may come of it. */
export interface Batch {
  tenant: Tenant;
  ids: readonly string[];
  body: Buffer;
  /** Sent so many times at once. */
  copies: number;
  /** The 4xx that it deserves; undefined when it is good. */
  deserves?: 400 | 401;
}

export interface BatchOptions {
  /** Events of a batch: from 1 to this. */
  eventsMax: number;
  /** Of 100 batches, how many repeat ids that were sent before. */
  repeatPercent: number;
}

/** Of 100 batches, how many deserve a 400 and a 401: nothing of them may ever be stored. */
const badPercent = 2;

/** Repeated batches are some of the last so many: most of them are on their way still. */
const recentMax = 64;

export function freshIds(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}

/** Makes up what clients send: fresh events of all sizes, and every way in which an id comes twice (contract §1). */
export class Batches {
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
    if (chance <= badPercent) return this.#bad();
    const earlier =
      this.#recent.length > 0 && chance <= badPercent + this.#options.repeatPercent
        ? this.#recent[this.#random.between(0, this.#recent.length - 1)]
        : undefined;
    const batch = earlier === undefined ? this.#fresh() : this.#repeat(earlier);
    if (this.#recent.push(batch) > recentMax) this.#recent.shift();
    return batch;
  }

  /** One fresh event. */
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
      // A retry whose first try is still on its way, byte for byte.
      () => ({ ...this.#fresh(), copies: 2 }),
      () => ({ ...earlier, copies: 1 }),
      // Ids are unique per space only: the same ones in another space are other events.
      () => again({ tenant: this.#random.pick(this.#tenants) }),
      () => again({ ids: earlier.ids.map((id) => id.toUpperCase()) }),
      () =>
        again({ ids: [...earlier.ids.slice(0, earlier.ids.length >> 1), ...this.#freshIds()].slice(0, 500) }),
      () => again({ ids: earlier.ids.toReversed() }),
      // Twice in one batch: the first one wins.
      () => again({ ids: [...earlier.ids, ...earlier.ids].slice(0, 500) }),
    ];
    return this.#random.pick(kinds)();
  }

  #bad(): Batch {
    const tenant = this.#random.pick(this.#tenants);
    const ids = this.#freshIds();
    return { tenant, ids, body: this.#source.makeInvalidBody(ids), copies: 1, deserves: 400 };
  }
}
