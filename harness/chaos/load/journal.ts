import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../platform/thrown.ts';
import { until } from '../../wait.ts';

/** The outcomes of an id as bits, because it may have been sent several times. */
export const outcomes = { accepted: 1, rejected: 2, unknown: 4 } as const;
export type Outcome = keyof typeof outcomes;

const pollMs = 10;

/** The responses that the clients of one round got. Ids are recorded per space, in lower case. */
export class Journal {
  /** Requests answered with 202. */
  acceptedBatches = 0;
  /** Requests whose outcome is unknown: 5xx, a network failure, or a time-out. */
  unknownOutcomes = 0;
  /** Incorrect responses: a 4xx to a valid request, or a 5xx other than 503. */
  readonly unexpected: string[] = [];
  /** The number of responses with each status; 0 stands for no response. */
  readonly statuses = new Map<number, number>();
  /** Why requests had no response. */
  readonly connectionErrors: string[] = [];
  readonly #spaces = new Map<string, Map<string, number>>();
  #lastAcceptedMs: number | undefined;
  #longestGapMs = 0;

  /** Records the outcome of ids that were sent to a space. */
  record(spaceId: string, ids: readonly string[], outcome: Outcome): void {
    const known = this.#spaces.get(spaceId) ?? new Map<string, number>();
    this.#spaces.set(spaceId, known);
    for (const id of ids) {
      const lower = id.toLowerCase();
      known.set(lower, (known.get(lower) ?? 0) | outcomes[outcome]);
    }
    if (outcome === 'unknown') this.unknownOutcomes += 1;
    if (outcome === 'accepted') this.#recordAccepted();
  }

  recordStatus(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  /** Records a request without a response. */
  recordNoResponse(client: string, error: unknown): void {
    this.recordStatus(0);
    const cause = error instanceof Error && error.cause instanceof Error ? `, ${error.cause.message}` : '';
    this.connectionErrors.push(`${client}: ${messageOf(error)}${cause}`);
  }

  /** The ids of each space with their outcomes. */
  get spaces(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#spaces;
  }

  /** The longest time without a 202 since the first one, in milliseconds. */
  longestGapMs(): number {
    const openMs = this.#lastAcceptedMs === undefined ? 0 : performance.now() - this.#lastAcceptedMs;
    return Math.max(this.#longestGapMs, openMs);
  }

  /** The time of the last 202, as `performance.now()`; undefined before the first. */
  get lastAcceptedMs(): number | undefined {
    return this.#lastAcceptedMs;
  }

  /** Resolves to true at the first 202 after an instant, and to false after the time-out. */
  async acceptsAfter(instantMs: number, timeoutMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + timeoutMs;
    while ((this.#lastAcceptedMs ?? -Infinity) <= instantMs) {
      if (performance.now() > deadlineMs) return false;
      await sleep(pollMs);
    }
    return true;
  }

  /** Resolves when this many more batches were accepted. @throws Error after the time-out. */
  async untilAccepted(batches: number, timeoutMs = 60_000): Promise<void> {
    const target = this.acceptedBatches + batches;
    await until(
      () => this.acceptedBatches >= target,
      timeoutMs,
      () =>
        `${batches} batches were not accepted; responses by status: ${JSON.stringify([...this.statuses])}`,
    );
  }

  #recordAccepted(): void {
    this.acceptedBatches += 1;
    const nowMs = performance.now();
    if (this.#lastAcceptedMs !== undefined) {
      this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - this.#lastAcceptedMs);
    }
    this.#lastAcceptedMs = nowMs;
  }
}
