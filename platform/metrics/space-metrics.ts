import { defineGauge } from './define.ts';

/** How long a share is counted before the next one begins. The last two are shown together. */
const windowMs = 60_000;

/** Counts what each space takes of something, and shows the share of the space that takes most. */
export class SpaceShares {
  #before = new Map<string, number>();
  #current = new Map<string, number>();
  #startedMs = performance.now();

  /** @param of what is counted, as a label: a process counts one thing. */
  constructor(of: 'call time' | 'bytes') {
    const shares = this;
    defineGauge({
      name: 'weir_busiest_space_ratio',
      help: 'Share of the busiest space in the time of calls, or in the bytes received, of the last two minutes.',
      labelNames: ['space_id', 'of'],
      collect() {
        this.reset();
        const busiest = shares.findBusiest();
        if (busiest !== undefined) this.set({ space_id: busiest.spaceId, of }, busiest.share);
      },
    });
  }

  add(spaceId: string, amount: number): void {
    this.#advance();
    this.#current.set(spaceId, (this.#current.get(spaceId) ?? 0) + amount);
  }

  /** @returns undefined when no space took anything. */
  findBusiest(): { spaceId: string; share: number } | undefined {
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
