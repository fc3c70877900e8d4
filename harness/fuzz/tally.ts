import type { Outcome } from './outcome.ts';

/** Counts the outcomes. They show whether the generator produces both accepted and rejected bodies. */
export class Tally {
  readonly #counts = new Map<Outcome, number>();

  add(outcome: Outcome): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  toString(): string {
    return [...this.#counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  }
}
