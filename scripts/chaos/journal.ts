import { setTimeout as sleep } from 'node:timers/promises';

/** What is known of an id, as bits: it may have been sent several times. */
export const outcomes = { accepted: 1, refused: 2, unknown: 4 } as const;
export type Outcome = keyof typeof outcomes;

const pollMs = 10;

/** What the clients of one round were told. Ids are per space, in lower case. */
export class Journal {
  /** Requests answered with 202. */
  acceptedBatches = 0;
  /** Requests whose outcome is unknown: 5xx, a network failure, no answer in time. */
  unknownOutcomes = 0;
  /** Answers that no client's fault explains: a 4xx to a good request, a 5xx other than 503. */
  readonly unexpected: string[] = [];
  /** How often each status came; 0 stands for no answer. */
  readonly statuses = new Map<number, number>();
  readonly #spaces = new Map<string, Map<string, number>>();
  #lastAcceptedMs: number | undefined;
  #longestGapMs = 0;

  /** Notes what came of ids that were sent to a space. */
  note(spaceId: string, ids: readonly string[], outcome: Outcome): void {
    const known = this.#spaces.get(spaceId) ?? new Map<string, number>();
    this.#spaces.set(spaceId, known);
    for (const id of ids) {
      const lower = id.toLowerCase();
      known.set(lower, (known.get(lower) ?? 0) | outcomes[outcome]);
    }
    if (outcome === 'unknown') this.unknownOutcomes += 1;
    if (outcome === 'accepted') this.#noteAccepted();
  }

  noteStatus(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  /** Each space's ids with what is known of them. */
  get spaces(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#spaces;
  }

  /** The longest time without any 202 since the first one, in milliseconds. */
  longestGapMs(): number {
    const openMs = this.#lastAcceptedMs === undefined ? 0 : performance.now() - this.#lastAcceptedMs;
    return Math.max(this.#longestGapMs, openMs);
  }

  /** The instant of the last 202, on the clock of `performance.now()`; undefined before the first. */
  get lastAcceptedMs(): number | undefined {
    return this.#lastAcceptedMs;
  }

  /** Resolves to true when there is a 202 after an instant, and to false when there is none for so long. */
  async acceptsAfter(instantMs: number, timeoutMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + timeoutMs;
    while ((this.#lastAcceptedMs ?? -Infinity) <= instantMs) {
      if (performance.now() > deadlineMs) return false;
      await sleep(pollMs);
    }
    return true;
  }

  /** Resolves when so many more batches were accepted. @throws Error when they are not within the time. */
  async untilAccepted(batches: number, timeoutMs = 60_000): Promise<void> {
    const wanted = this.acceptedBatches + batches;
    const deadlineMs = performance.now() + timeoutMs;
    while (this.acceptedBatches < wanted) {
      if (performance.now() > deadlineMs) {
        throw new Error(
          `${batches} batches were not accepted within ${timeoutMs} ms; answers: ${JSON.stringify([...this.statuses])}`,
        );
      }
      await sleep(pollMs);
    }
  }

  #noteAccepted(): void {
    this.acceptedBatches += 1;
    const nowMs = performance.now();
    if (this.#lastAcceptedMs !== undefined) {
      this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - this.#lastAcceptedMs);
    }
    this.#lastAcceptedMs = nowMs;
  }
}
