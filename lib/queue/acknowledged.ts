/** The stream contradicts an earlier PubAck: it has lost what it acknowledged, or is another stream. */
export class QueueLossError extends Error {
  override name = 'QueueLossError';
}

/**
 * Remembers how far the stream has acknowledged, and raises the alarm when it goes back (invariant of design §2). The
 * alarm stays until the process ends: a store that lost something may lose what it takes next, too (ADR 0012).
 */
export class Acknowledged {
  readonly #onLoss: (loss: QueueLossError) => void;
  #highest = 0;
  #loss: QueueLossError | undefined;

  /** @param onLoss told once. */
  constructor(onLoss: (loss: QueueLossError) => void) {
    this.#onLoss = onLoss;
  }

  /** The highest sequence number that was acknowledged. */
  get highest(): number {
    return this.#highest;
  }

  /** What was raised, if something was. */
  get loss(): QueueLossError | undefined {
    return this.#loss;
  }

  /** Takes note of a PubAck. */
  note(sequence: number): void {
    this.#highest = Math.max(this.#highest, sequence);
  }

  /** Raises the alarm, and returns what to throw. */
  raise(reason: string): QueueLossError {
    if (this.#loss === undefined) {
      this.#loss = new QueueLossError(`${reason}: nats-server has lost messages that it had acknowledged`);
      this.#onLoss(this.#loss);
    }
    return this.#loss;
  }
}
