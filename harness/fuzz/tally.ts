import type { Outcome } from './outcome.ts';

/** Counts the outcomes: a generator of which all bodies are accepted, or none, tests little. */
export class Tally {
  readonly #counts = new Map<Outcome, number>();

  add(outcome: Outcome): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  toString(): string {
    return [...this.#counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  }
}
