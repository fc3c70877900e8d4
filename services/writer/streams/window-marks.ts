/** At `atMs`, by `performance.now()`, the stream had every message up to `sequence`. */
interface Mark {
  readonly sequence: number;
  readonly atMs: number;
}

/** A window is remembered in this many steps. */
const marksPerWindow = 100;
const markMsMin = 1_000;

/**
 * Knows which messages are older than the replay window, never too many: by `performance.now()`, whatever the
 * clocks. Earlier messages only have the time of nats-server's clock, which may be wrong: at first none
 * counts as older than the window, and times out of order are ignored. After a whole window no times are
 * used.
 */
export class WindowMarks {
  readonly #windowMs: number;
  readonly #stepMs: number;
  /** By sequence. Everything before the first one has been reported as expired. */
  #marks: Mark[];
  /** What to subtract from a time of nats-server. */
  readonly #offsetMs: number;
  readonly #startSequence: number;
  /** All messages that are left were accepted after it, by `performance.now()`. */
  #keptSinceMs = Number.NEGATIVE_INFINITY;

  /**
   * @param options `nowMs`: by the earlier clock of this process and nats-server. `firstAtMs`: when the
   * oldest message was accepted. `atMs`: `performance.now()`.
   */
  constructor(options: {
    windowMs: number;
    nowMs: number;
    firstAtMs: number | undefined;
    lastSequence: number;
    atMs: number;
  }) {
    const { windowMs, nowMs, firstAtMs, lastSequence, atMs } = options;
    this.#windowMs = windowMs;
    this.#stepMs = Math.max(markMsMin, windowMs / marksPerWindow);
    this.#marks = [{ sequence: lastSequence, atMs }];
    this.#startSequence = lastSequence;
    // With a clock ahead messages look older: the oldest one is at most as old as the window, by the purge.
    this.#offsetMs = Math.min(nowMs, firstAtMs === undefined ? nowMs : firstAtMs + windowMs) - atMs;
  }

  /** Call it again and again with the last sequence of the stream. */
  note(lastSequence: number, atMs: number): void {
    const last = this.#marks.at(-1);
    if (last !== undefined && (atMs - last.atMs < this.#stepMs || lastSequence <= last.sequence)) return;
    this.#marks.push({ sequence: lastSequence, atMs });
  }

  /** The sequence up to which all messages are older than the window; 0 for none. */
  expiredUpTo(atMs: number): number {
    let expired = 0;
    for (const mark of this.#marks) {
      if (atMs - mark.atMs < this.#windowMs) break;
      expired = mark.sequence;
      this.#keptSinceMs = mark.atMs;
    }
    this.#marks = this.#marks.filter(({ sequence }) => sequence > expired);
    return expired;
  }

  /** The message whose time tells most. @returns undefined for a young oldest one, or one next to a mark. */
  findUnknown(firstSequence: number, firstAtMs: number, atMs: number): number | undefined {
    const [next] = this.#marks;
    if (next === undefined || firstSequence > this.#startSequence) return undefined;
    if (atMs - this.#earliest(firstAtMs) < this.#windowMs) return undefined;
    if (firstSequence >= next.sequence) return undefined;
    return Math.floor((firstSequence + next.sequence) / 2);
  }

  learn({
    sequence,
    acceptedAtMs,
    firstAtMs,
  }: {
    sequence: number;
    acceptedAtMs: number;
    firstAtMs: number;
  }): void {
    const [next] = this.#marks;
    if (next === undefined || sequence >= next.sequence) return;
    const atMs = this.#toMonotonic(acceptedAtMs);
    const isInOrder = atMs >= this.#earliest(firstAtMs) && atMs <= next.atMs;
    this.#marks.unshift({ sequence, atMs: isInOrder ? atMs : next.atMs });
  }

  #earliest(firstAtMs: number): number {
    return Math.max(this.#keptSinceMs, this.#toMonotonic(firstAtMs));
  }

  #toMonotonic(timeMs: number): number {
    return timeMs - this.#offsetMs;
  }
}
