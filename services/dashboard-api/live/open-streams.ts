import type { ServerResponse } from 'node:http';
import { openLimiter } from '../../../platform/limiter.ts';
import { FairSlots, type SlotHolder } from '../fair-slots.ts';
import { refusal } from '../refusal.ts';
import { liveOpeningMax, liveStallMsMax, liveStreamLimits } from './limits.ts';

/** Emitted by the response of a stream that has its place. */
const placed = 'placed';

/** Fair places of streams. A shutdown ends these first: clients reconnect, and only other requests drain. */
export class OpenStreams implements Disposable {
  readonly #responses = new Set<ServerResponse>();
  readonly #slots = new FairSlots(liveStreamLimits);
  readonly #opening = openLimiter(liveOpeningMax);
  #isClosed = false;

  /** Answers a request for a stream in its turn: the next one begins when it has a place, or has ended. */
  async openInTurn(response: ServerResponse, answer: () => void): Promise<void> {
    let hasEnded = false;
    const isDone = new Promise<void>((resolve) => {
      response.once(placed, resolve).once('close', () => {
        hasEnded = true;
        resolve();
      });
    });
    await this.#opening(async () => {
      if (hasEnded) return;
      answer();
      await isDone;
    });
  }

  /**
   * @returns the place of the stream, to be freed when it ends.
   * @throws TRPCError SERVICE_UNAVAILABLE when the service is stopping; TOO_MANY_REQUESTS above the limits.
   */
  add(response: ServerResponse, holder: SlotHolder): Disposable {
    if (this.#isClosed) throw refusal('SERVICE_UNAVAILABLE', 'The service is restarting.');
    const slot = this.#slots.take(holder, response);
    // Pings keep a reading client active, so only one that does not read is disconnected.
    response.setTimeout(liveStallMsMax, () => response.destroy());
    this.#responses.add(response);
    response.emit(placed);
    response.once('close', () => this.#responses.delete(response));
    return slot;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const response of this.#responses) response.destroy();
  }
}
