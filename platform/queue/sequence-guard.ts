/**
 * The stream contradicts an earlier PubAck: it lost acknowledged messages, or was replaced by another stream.
 */
export class QueueLossError extends Error {
  override name = 'QueueLossError';
}

/**
 * Guards the invariant that a stream's sequence never goes back: it keeps the highest PubAck, and the first
 * violation. The violation stays until the process ends, because a store that lost messages may lose the next
 * ones too (ADR 0012).
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

  /** The loss that was detected, if any. */
  get loss(): QueueLossError | undefined {
    return this.#loss;
  }

  /** Records the sequence number of a PubAck. */
  record(sequence: number): void {
    this.#highest = Math.max(this.#highest, sequence);
  }

  /** Reports a loss, once, and returns the error to throw. */
  raise(reason: string): QueueLossError {
    if (this.#loss === undefined) {
      this.#loss = new QueueLossError(`${reason}: nats-server has lost messages that it had acknowledged`);
      this.#onLoss(this.#loss);
    }
    return this.#loss;
  }
}
