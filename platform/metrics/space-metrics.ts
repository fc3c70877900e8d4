import { defineGauge } from './define.ts';

/** How long a share is counted before the next one begins. The last two are shown together. */
const windowMs = 60_000;

/** The space that took most in some two minutes, and its share of what all took. */
export interface BusiestSpace {
  readonly spaceId: string;
  readonly share: number;
}

export class SpaceShares {
  #before = new Map<string, number>();
  #current = new Map<string, number>();
  #startedMs = performance.now();

  constructor() {
    const shares = this;
    defineGauge({
      name: 'weir_busiest_space_ratio',
      help: 'Share of the busiest space in the last two minutes: in the bytes of ingest, the events of a writer, the time of calls of the dashboard API.',
      labelNames: ['space_id'],
      collect() {
        this.reset();
        const busiest = shares.findBusiest();
        if (busiest !== undefined) this.set({ space_id: busiest.spaceId }, busiest.share);
      },
    });
  }

  add(spaceId: string, amount: number): void {
    this.#advance();
    this.#current.set(spaceId, (this.#current.get(spaceId) ?? 0) + amount);
  }

  /** @returns undefined when no space took anything. */
  findBusiest(): BusiestSpace | undefined {
    this.#advance();
    const sums = new Map(this.#before);
    for (const [spaceId, amount] of this.#current) sums.set(spaceId, (sums.get(spaceId) ?? 0) + amount);
    const [first] = [...sums].toSorted(([, a], [, b]) => b - a);
    const total = [...sums.values()].reduce((sum, amount) => sum + amount, 0);
    return first === undefined || total === 0 ? undefined : { spaceId: first[0], share: first[1] / total };
  }

  #advance(): void {
    const passedMs = performance.now() - this.#startedMs;
    if (passedMs < windowMs) return;
    this.#before = passedMs < 2 * windowMs ? this.#current : new Map();
    this.#current = new Map();
    this.#startedMs = performance.now();
  }
}
