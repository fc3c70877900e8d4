import { defineGauge } from '../../platform/metrics/define.ts';

/** How long a share is counted before the next one begins. The last two are shown together. */
const windowMs = 60_000;

/** Counts the time that the tasks of each space take, and shows the share of the space that takes most. */
export class SpaceShares {
  #before = new Map<string, number>();
  #current = new Map<string, number>();
  #startedMs = performance.now();

  constructor() {
    const shares = this;
    defineGauge({
      name: 'weir_dashboard_busiest_space_ratio',
      help: 'Share of the time of all calls that those of the busiest space took in the last two minutes.',
      labelNames: ['space_id'],
      collect() {
        this.reset();
        const busiest = shares.findBusiest();
        if (busiest !== undefined) this.set({ space_id: busiest.spaceId }, busiest.share);
      },
    });
  }

  add(spaceId: string, ms: number): void {
    this.#advance();
    this.#current.set(spaceId, (this.#current.get(spaceId) ?? 0) + ms);
  }

  /** @returns undefined when no space had a call. */
  findBusiest(): { spaceId: string; share: number } | undefined {
    this.#advance();
    const sums = new Map(this.#before);
    for (const [spaceId, ms] of this.#current) sums.set(spaceId, (sums.get(spaceId) ?? 0) + ms);
    const [first] = [...sums].toSorted(([, a], [, b]) => b - a);
    const total = [...sums.values()].reduce((sum, ms) => sum + ms, 0);
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
