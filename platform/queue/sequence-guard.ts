/** A stream contradicts an earlier PubAck: it lost acknowledged messages, or was replaced. */
export class QueueLossError extends Error {
  override name = 'QueueLossError';
}

/**
 * Guards the invariant that a stream's sequence never goes back. A violation stays until the process ends: a
 * store that lost messages may lose the next ones, too (ADR 0012).
 */
export class SequenceGuard {
  readonly #onLoss: (loss: QueueLossError) => void;
  #highest = 0;
  #loss: QueueLossError | undefined;

  /** @param onLoss called once, on the first loss. */
  constructor(onLoss: (loss: QueueLossError) => void) {
    this.#onLoss = onLoss;
  }

  /** The highest acknowledged sequence number; 0 before the first PubAck. */
  get highest(): number {
    return this.#highest;
  }

  get loss(): QueueLossError | undefined {
    return this.#loss;
  }

  record(sequence: number): void {
    this.#highest = Math.max(this.#highest, sequence);
  }

  /** Reports a loss, once. @returns the error to throw. */
  raise(reason: string): QueueLossError {
    if (this.#loss === undefined) {
      this.#loss = new QueueLossError(`${reason}: nats-server has lost messages that it had acknowledged`);
      this.#onLoss(this.#loss);
    }
    return this.#loss;
  }
}
