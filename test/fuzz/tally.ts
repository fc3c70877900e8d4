import type { Outcome } from './outcome.ts';

/** How often there was which outcome: a generator that makes nothing good, or nothing bad, tests nothing. */
export class Tally {
  readonly #counts = new Map<Outcome, number>();

  add(outcome: Outcome): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  toString(): string {
    return [...this.#counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  }
}
