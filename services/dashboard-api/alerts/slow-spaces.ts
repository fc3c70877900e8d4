import { slowEvaluationMs, slowEvaluationRest } from './limits.ts';

/**
 * Spaces whose evaluations take long, and therefore wait: rules by an additional property read events, and
 * one rule is evaluated at a time. So such a space delays only its own alerts.
 */
export class SlowSpaces {
  readonly #now: () => number;
  /** Until when each waits. */
  readonly #until = new Map<string, number>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes how long an evaluation took, also one that failed. */
  note(spaceId: string, tookMs: number): void {
    if (tookMs >= slowEvaluationMs) this.#until.set(spaceId, this.#now() + slowEvaluationRest * tookMs);
  }

  list(): string[] {
    for (const [spaceId, until] of this.#until) if (until <= this.#now()) this.#until.delete(spaceId);
    return [...this.#until.keys()];
  }
}
