import type { EncodedMessage } from './encoded-message.ts';

/** Bounds the bytes that wait for the slow clients of all live streams together. A message that many of them hold counts once. */
export class QueueBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @returns false when there is no room for the message: it is not held. */
  hold(message: EncodedMessage): boolean {
    if (message.holders === 0) {
      if (this.#bytes + message.bytes.length > this.#bytesMax) return false;
      this.#bytes += message.bytes.length;
    }
    message.holders += 1;
    return true;
  }

  release(message: EncodedMessage): void {
    message.holders -= 1;
    if (message.holders === 0) this.#bytes -= message.bytes.length;
  }
}
