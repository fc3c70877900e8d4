import { slowEvaluationMs, slowEvaluationRest } from './limits.ts';

/**
 * The spaces whose evaluations take long, and that therefore wait: an alert by an additional property reads the events of its window, and
 * one rule is evaluated at a time. So such a space delays its own alerts, not those of others.
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

  /** The ids of the spaces that wait. */
  list(): string[] {
    for (const [spaceId, until] of this.#until) if (until <= this.#now()) this.#until.delete(spaceId);
    return [...this.#until.keys()];
  }
}
